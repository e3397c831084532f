import { formatDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../../plan/plan.ts";
import type { Objections, StrategyChoice } from "../../../contract/choose-strategy.ts";
import { objectionsInWords, refuseStrategy } from "../../../contract/refuse-strategy.ts";
import { refuseOwnDeadNames } from "../../../contract/shared-dead-queue.ts";
import { nameClashes, warnOfReturns } from "../../../contract/shared-problems.ts";
import type { RabbitmqCapabilities, RabbitmqTarget, StrategyName } from "./capabilities.ts";
import { capabilities, formatTarget, hasSince, rabbitmqLimits } from "./capabilities.ts";
import { pathOfOwn } from "../../../plan/names.ts";
import { diagnoseNames } from "./diagnose-names.ts";
import { reservedKeyPrefix } from "./names.ts";
import { diagnoseArguments, diagnoseDeadQueueSettings, lengthLimitsOf } from "./queue-arguments.ts";
import { mostWaits } from "./spread.ts";
import type { Topology } from "./topology.ts";

/** Finds the problems of the declaration on RabbitMQ that no strategy could solve. */
export function diagnosePlan(plan: Plan, target: RabbitmqTarget): Diagnostic[] {
  const ofConsumers = plan.consumers.flatMap((each) => [...diagnoseConsumer(each), ...diagnoseArguments(each, target)]);
  const ofAll = [...refuseOwnDeadNames(plan, target), ...diagnoseDeadQueueSettings(plan, target)];
  return [...diagnoseNames(plan), ...ofAll, ...ofConsumers];
}

function diagnoseConsumer(plan: ConsumerPlan): Diagnostic[] {
  const order =
    plan.order === "none"
      ? []
      : diagnosed("RD206", {
          path: ["consumers", plan.consumer, "order"],
          message: "RabbitMQ cannot keep messages of one key in order across a retry",
          value: plan.order,
          notes: ["while a failed message waits, later ones with the same key overtake it"],
          help: 'use order: "none", or a target with message groups: SQS FIFO, Service Bus sessions',
        });
  const reserved = Object.entries(plan.from).flatMap(([source, keys]) =>
    keys === "all"
      ? []
      : keys.flatMap((key, index) =>
          key.startsWith(reservedKeyPrefix)
            ? diagnosed("RD212", {
                path: ["consumers", plan.consumer, "from", source, index],
                message: `routing keys that start with ${reservedKeyPrefix} are reserved`,
                value: key,
                notes: ["the routing key of a retried message carries its attempt number"],
                help: "choose another routing key",
              })
            : [],
        ),
  );
  return [...order, ...reserved];
}

/**
 * Finds two resources of one kind with one name. Each consumer's derived names must be its own. `diagnoseNames`
 * compares sources with each other.
 */
export function diagnoseClashes(plan: Plan, { queues, exchanges, policies }: Topology): Diagnostic[] {
  const clashesIn = (kind: string, resources: Topology["queues"] | Topology["exchanges"]): Diagnostic[] =>
    nameClashes(
      plan,
      resources.map(({ name, consumer, role }) => ({
        name,
        pathOf: () => (consumer === null ? null : pathOfOwn(plan, consumer, role)),
        what: consumer === null ? `the shared ${role} ${kind}` : `the ${role} ${kind} of ${consumer}`,
      })),
    );
  const sources = new Map(exchanges.filter(({ role }) => role === "source").map((each) => [each.name, each]));
  const others = exchanges.filter(({ role }) => role !== "source");
  const found = [...clashesIn("queue", queues), ...clashesIn("exchange", [...sources.values(), ...others])];
  if (found.length > 0) return found;
  // The policies of queues and of exchanges share one set of names.
  const consumers = new Map(
    [...exchanges, ...queues].flatMap(({ name, consumer }) => (consumer === null ? [] : [[name, consumer]])),
  );
  const named = policies.map(({ name, applyTo }) => {
    const consumer = consumers.get(name);
    const what = `the policy of the ${applyTo === "exchanges" ? "exchange" : "queue"} ${name}`;
    return { name, pathOf: () => (consumer === undefined ? null : pathOfOwn(plan, consumer, "work")), what };
  });
  return nameClashes(plan, named, "RabbitMQ would keep only one of them");
}

/**
 * Refuses the declaration because no strategy keeps every promise, or the requested one does not.
 *
 * @param upgradeTo a target that would keep it, if there is one
 */
export function refuseConsumer(
  target: RabbitmqTarget,
  plan: ConsumerPlan,
  objections: Objections<StrategyName>,
  upgradeTo: RabbitmqTarget | null,
): Diagnostic {
  const upgrade = upgradeTo === null ? [] : [`use the target ${formatTarget(upgradeTo)}, which keeps it`];
  const speaksNewer =
    plan.protocol === "amqp-1.0" && !hasSince(target, capabilities[target.version].deferralSincePatch);
  if (target.strategy === "auto" && speaksNewer)
    return diagnostic("RD213", {
      path: ["consumers", plan.consumer, "protocol"],
      message: `${formatTarget(target)} has no strategy for a consumer that speaks AMQP 1.0`,
      value: plan.protocol,
      notes: objectionsInWords(objections),
      help: [...upgrade, 'use protocol: "amqp-0-9-1"'].join(", or "),
    });
  return refuseStrategy(plan.consumer, formatTarget(target), target.strategy, objections, upgrade);
}

/** Warns of promises that hold on this target only with a consequence. */
export function warnings(
  plan: Plan,
  target: RabbitmqTarget,
  capabilities: RabbitmqCapabilities,
  choices: readonly StrategyChoice<StrategyName | "every-instance">[],
  topology: Topology,
): Diagnostic[] {
  const found = plan.consumers.flatMap((consumer) =>
    consumer.retry === null
      ? []
      : [...consumerWarnings(consumer, consumer.retry, capabilities), ...warnOfLimits(consumer)],
  );
  const quorumQueues = topology.queues.length;
  if (quorumQueues > rabbitmqLimits.quorumQueues) {
    found.push(
      diagnostic("RD210", {
        path: "consumers",
        message: `the topology has ${quorumQueues} quorum queues; from ${rabbitmqLimits.quorumQueues} on, check the cluster's resources`,
        notes: ["each quorum queue is a Raft group with a member on every node"],
        help: `each consumer has two queues, and each distinct delay has one, or ${mostWaits} with jitter: declare fewer distinct delays, or fewer with jitter`,
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
  capabilities: RabbitmqCapabilities,
): Diagnostic[] {
  const found: Diagnostic[] = [];
  const path = ["consumers", consumer];
  if (capabilities.returnsCount) {
    found.push(
      warnOfReturns({
        path: retry.crashDeclared ? [...path, "crash", "deliveries"] : path,
        value: retry.crashDeclared ? retry.crashDeliveries : undefined,
        deliveries: retry.crashDeliveries,
        of: "crash",
        notes: ["up to 4.2 the delivery limit counts every return; on 4.3 basic.nack with requeue counts nothing"],
        edit: "raise crash.deliveries",
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

/** Warns of a queue that refuses messages. Most client libraries do not wait for confirms by themselves. */
function warnOfLimits(plan: ConsumerPlan): Diagnostic[] {
  const { consumer, queueArguments } = plan;
  return lengthLimitsOf(plan).map((limit) =>
    diagnostic("RD241", {
      path: ["consumers", consumer, "queueArguments", limit],
      message: "a full work queue refuses new messages, and only a publisher that waits for confirms learns it",
      value: queueArguments?.[limit],
      notes: ["other consumers of the same message may have it already, so a second try doubles it for them"],
      help: `let every publisher wait for confirms and publish again, or leave ${limit} out`,
    }),
  );
}
