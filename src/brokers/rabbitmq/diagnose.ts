import { formatDurationMs } from "../../declare/duration.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../plan/plan.ts";
import type { Objection, StrategyChoice } from "../broker.ts";
import type { RabbitmqCapabilities, RabbitmqTarget, StrategyName } from "./capabilities.ts";
import { capabilities, formatTarget, hasSince, rabbitmqLimits } from "./capabilities.ts";
import { consumerNames, reservedKeyPrefix } from "./names.ts";
import { mostWaits } from "./spread.ts";
import type { Topology } from "./topology.ts";

/** What is wrong with the declaration on RabbitMQ, whatever the strategy. */
export function diagnosePlan(plan: Plan): Diagnostic[] {
  return [
    ...nameProblems(["name"], plan.system, plan.system),
    ...Object.keys(plan.sources).flatMap((source) =>
      nameProblems(["sources", source], source, `${plan.system}.${source}`),
    ),
    ...plan.consumers.flatMap((consumer) => diagnoseConsumer(plan.system, consumer)),
  ];
}

function diagnoseConsumer(system: string, plan: ConsumerPlan): Diagnostic[] {
  const names = consumerNames(system, plan.consumer);
  const last = plan.retry?.attempts.length ?? 1;
  const order =
    plan.order === "none"
      ? []
      : [
          diagnostic("RD206", {
            path: ["consumers", plan.consumer, "order"],
            message: "RabbitMQ cannot keep messages of one key in order across a retry",
            value: plan.order,
            notes: ["while a failed message waits, later ones with the same key overtake it"],
            help: 'use order: "none", or a target with message groups: SQS FIFO, Service Bus sessions',
          }),
        ];
  const reserved = Object.entries(plan.from).flatMap(([source, keys]) =>
    keys === "all"
      ? []
      : keys.flatMap((key, index) =>
          key.startsWith(reservedKeyPrefix)
            ? [
                diagnostic("RD212", {
                  path: ["consumers", plan.consumer, "from", source, index],
                  message: `routing keys that start with ${reservedKeyPrefix} are reserved`,
                  value: key,
                  notes: ["the routing key of a retried message carries its attempt number"],
                  help: "choose another routing key",
                }),
              ]
            : [],
        ),
  );
  return [...nameProblems(["consumers", plan.consumer], plan.consumer, names.attemptKey(last)), ...order, ...reserved];
}

/** @param longest the longest name or routing key that is derived from the name */
function nameProblems(path: readonly string[], name: string, longest: string): Diagnostic[] {
  const bytes = Buffer.byteLength(longest);
  const problem = (message: string, note: string, help: string): Diagnostic[] => [
    diagnostic("RD204", { path, message, value: name, notes: [note], help }),
  ];
  if (/[/@]/.test(name)) {
    return problem(
      `the name ${JSON.stringify(name)} has a ${name.includes("/") ? "/" : "@"} in it`,
      "the Pulumi provider splits its resource ids at / and @, and would find another resource or none",
      "use letters, digits, dots, dashes and underscores",
    );
  }
  if (/^\d+$/.test(name)) {
    return problem(
      `the name ${JSON.stringify(name)} is a number`,
      "the Pulumi provider turns whatever looks like a number into one, and RabbitMQ then refuses it as a name",
      `give it a name with a letter in it, for example "c${name}"`,
    );
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || name.trim() !== name) {
    return problem(
      "the name has a control character, or a blank at its start or end",
      "such names cannot be told apart on a screen",
      "use letters, digits, dots, dashes and underscores",
    );
  }
  if (path[0] === "name" && /^amq$|^amq\./.test(name)) {
    return problem(
      `names that start with amq. are the broker's own`,
      "RabbitMQ refuses to declare them (403 ACCESS_REFUSED)",
      "choose another name for the system",
    );
  }
  if (bytes > rabbitmqLimits.nameBytes) {
    return problem(
      `a name derived from this would have ${bytes} bytes; ${rabbitmqLimits.nameBytes} are allowed`,
      `the longest is ${longest.slice(0, 40)}…, with the system's name and the attempt number`,
      "shorten it, or the system's name",
    );
  }
  return [];
}

/** Two resources of one kind with one name: each consumer's derived names must be its own. */
export function diagnoseClashes(topology: Topology): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const [kind, resources] of [
    ["queue", topology.queues],
    ["exchange", topology.exchanges],
  ] as const) {
    const owners = new Map<string, { readonly owner: string; readonly consumer: string | null }>();
    for (const { name, consumer, role } of resources) {
      const owner = consumer === null ? `the shared ${role}` : `consumer ${JSON.stringify(consumer)}, ${role}`;
      const other = owners.get(name);
      if (other === undefined) {
        owners.set(name, { owner, consumer });
        continue;
      }
      // What consumers share has no name of its own in the declaration: the other of the two is the one to rename.
      const renamed = consumer ?? other.consumer;
      diagnostics.push(
        diagnostic("RD205", {
          path: renamed === null ? ["sources"] : ["consumers", renamed],
          message: `${JSON.stringify(name)} would be two ${kind}s: ${other.owner} and ${owner}`,
          notes: ["one consumer's messages would land with the other"],
          help: "rename one of the two",
        }),
      );
    }
  }
  return diagnostics;
}

/**
 * The refusal where no strategy, or not the one asked for, keeps every promise.
 *
 * @param upgradeTo a target that would keep it, if there is one
 */
export function refuseStrategy(
  target: RabbitmqTarget,
  plan: ConsumerPlan,
  objections: ReadonlyMap<StrategyName, readonly Objection[]>,
  upgradeTo: RabbitmqTarget | null,
): Diagnostic {
  const upgrade = upgradeTo === null ? [] : [`use the target ${formatTarget(upgradeTo)}, which keeps it`];
  const keeps = [...objections].filter(([, each]) => each.length === 0).map(([name]) => name);
  if (target.strategy === "auto") return refuseAuto(target, plan, objections, upgrade);
  const [first, ...others] = objections.get(target.strategy) ?? [];
  return diagnostic("RD202", {
    path: ["consumers", plan.consumer, ...(first?.path ?? [])],
    message: `${target.strategy} on ${formatTarget(target)} cannot keep this: ${first?.reason ?? ""}`,
    notes: others.map(({ reason }) => `also: ${reason}`),
    help:
      [
        ...(keeps.length > 0 ? [`use strategy ${keeps.join(" or ")}, which keeps it on this target`] : []),
        ...upgrade,
      ].join(", or ") || "no strategy keeps it; change the declaration",
  });
}

/** No strategy at all: the protocol is beyond the target, or every strategy has something against the declaration. */
function refuseAuto(
  target: RabbitmqTarget,
  plan: ConsumerPlan,
  objections: ReadonlyMap<StrategyName, readonly Objection[]>,
  upgrade: readonly string[],
): Diagnostic {
  const notes = [...objections].map(([name, each]) => `${name}: ${each.map(({ reason }) => reason).join("; ")}`);
  if (plan.protocol === "amqp-1.0" && !hasSince(target, capabilities[target.version].deferralSincePatch)) {
    return diagnostic("RD213", {
      path: ["consumers", plan.consumer, "protocol"],
      message: `${formatTarget(target)} has no strategy for a consumer that speaks AMQP 1.0`,
      value: plan.protocol,
      notes,
      help: [...upgrade, 'use protocol: "amqp-0-9-1"'].join(", or "),
    });
  }
  const [closest, [first] = []] = [...objections].toSorted(([, a], [, b]) => a.length - b.length)[0] ?? [];
  const path = first?.path ?? [];
  return diagnostic("RD203", {
    path: ["consumers", plan.consumer, ...path],
    message: `${formatTarget(target)} has no strategy for what ${plan.consumer} declares`,
    notes,
    help: [...upgrade, `change ${path.join(".")}: strategy ${closest} comes closest`].join(", or "),
  });
}

/** What holds on this target only with a consequence that the user ought to know. */
export function warnings(
  plan: Plan,
  target: RabbitmqTarget,
  capabilities: RabbitmqCapabilities,
  choices: readonly StrategyChoice<StrategyName | "every-instance">[],
  topology: Topology,
): Diagnostic[] {
  const found = plan.consumers.flatMap((consumer, index) =>
    consumer.retry === null
      ? []
      : consumerWarnings(consumer, consumer.retry, target, capabilities, choices[index]?.strategy),
  );
  const quorumQueues = topology.queues.length;
  if (quorumQueues > rabbitmqLimits.quorumQueues) {
    found.push(
      diagnostic("RD210", {
        path: "consumers",
        message: `the topology has ${quorumQueues} quorum queues; from ${rabbitmqLimits.quorumQueues} on a cluster's resources need a look`,
        notes: ["each quorum queue is a Raft group with a member on every node"],
        help: choices.some(({ strategy }) => strategy === "staged")
          ? "strategy waits shares its queues between all consumers, at the cost of a publish by the consumer"
          : `under waits each distinct delay is a queue, and with jitter ${mostWaits}: declare fewer distinct delays, or fewer with jitter`,
      }),
    );
  }
  if (target.version === "3.13" && choices.some(({ strategy }) => strategy === "staged")) {
    found.push(
      diagnostic("RD214", {
        path: "target.version",
        message: "staged on 3.13 needs the feature flag message_containers",
        notes: ["without it every first failure ends in the dead queue: nothing is lost, and nothing is retried"],
        help: "rabbitmqctl enable_feature_flag message_containers",
      }),
    );
  }
  return found;
}

function consumerWarnings(
  { consumer, handlerTimeoutMs }: ConsumerPlan,
  retry: RetryPlan,
  target: RabbitmqTarget,
  capabilities: RabbitmqCapabilities,
  strategy: StrategyName | "every-instance" | undefined,
): Diagnostic[] {
  const found: Diagnostic[] = [];
  const path = ["consumers", consumer];
  if (capabilities.returnsCount) {
    found.push(
      diagnostic("RD207", {
        path: retry.crashDeclared ? [...path, "crash", "deliveries"] : path,
        message: `on ${formatTarget(target)} a message that is handed back ${retry.crashDeliveries} times is dead, like after ${retry.crashDeliveries} crashes`,
        value: retry.crashDeclared ? retry.crashDeliveries : undefined,
        notes: ["up to 4.2 the delivery limit counts every return; on 4.3 basic.nack with requeue is free"],
        help: "keep the prefetch small, so that a shutdown returns few messages, or raise crash.deliveries",
      }),
    );
  }
  if (!capabilities.routesByLastDeath && strategy === "staged" && retry.attempts.length > 1) {
    found.push(
      diagnostic("RD208", {
        path,
        message: `on ${formatTarget(target)} the consumer itself moves a failed message to its next attempt`,
        notes: [
          "up to 3.12 routing sees only the reason of a message's first death, so the broker cannot tell a failure from a crash",
          "a crash between the copy and its acknowledgement doubles the message; it is never lost",
        ],
        help: "keep the handler idempotent; from 3.13 on the broker moves the message by itself",
      }),
    );
  }
  if (retry.alarmAbove !== null) {
    found.push(
      diagnostic("RD209", {
        path: [...path, "deadLetter", "alarmAbove"],
        message: "RabbitMQ raises no alarm on the depth of a queue",
        value: retry.alarmAbove,
        help: `let your monitoring watch the messages of the dead queue for more than ${retry.alarmAbove}`,
      }),
    );
  }
  if ((handlerTimeoutMs ?? 0) >= rabbitmqLimits.consumerTimeoutMs && !capabilities.consumerTimeoutPolicy) {
    found.push(
      diagnostic("RD211", {
        path: [...path, "handlerTimeout"],
        message: `the broker takes a delivery back after 30m; the handler may run for ${formatDurationMs(handlerTimeoutMs ?? 0)}`,
        notes: ["before 3.12 no policy can set the consumer timeout"],
        help: "set consumer_timeout in rabbitmq.conf on every node, or shorten the handler",
      }),
    );
  }
  return found;
}
