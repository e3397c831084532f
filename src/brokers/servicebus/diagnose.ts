import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import type { Objection } from "../broker.ts";
import type { ServicebusTarget, StrategyName } from "./capabilities.ts";
import { formatTarget, servicebusDefaults, servicebusLimits, skus } from "./capabilities.ts";
import { filterOf } from "./filter.ts";
import { ruleName, topicName, workQueueName } from "./names.ts";
import { count } from "./strategies/strategy.ts";
import type { ServicebusTopology } from "./topology.ts";

/** The names that no queue, topic or subscription may have. */
export function diagnoseNames({ system, sources, consumers }: Plan): Diagnostic[] {
  const { nameLength, subscriptionNameLength } = servicebusLimits;
  return [
    ...characterProblem(["name"], system),
    ...Object.keys(sources).flatMap((source) => [
      ...characterProblem(["sources", source], source),
      ...lengthProblem(["sources", source], "topic", topicName(system, source), nameLength),
    ]),
    ...consumers.flatMap(({ consumer }) => [
      ...characterProblem(["consumers", consumer], consumer),
      ...lengthProblem(["consumers", consumer], "subscription", consumer, subscriptionNameLength),
      ...lengthProblem(["consumers", consumer], "queue", workQueueName(system, consumer), nameLength),
    ]),
  ];
}

function characterProblem(path: readonly string[], name: string): Diagnostic[] {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) return [];
  const odd = [...new Set(name.replaceAll(/[A-Za-z0-9._-]/g, ""))].join("");
  return [
    diagnostic("RD707", {
      path,
      message:
        odd === ""
          ? "the name does not begin and end with a letter or a digit"
          : `the name has ${JSON.stringify(odd)} in it; Service Bus takes letters, digits, periods, hyphens and underscores`,
      value: name,
      help: `write for example ${JSON.stringify(name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[._-]+|[._-]+$/g, ""))}`,
    }),
  ];
}

function lengthProblem(path: readonly string[], kind: string, name: string, most: number): Diagnostic[] {
  if (name.length <= most) return [];
  return [
    diagnostic("RD707", {
      path,
      message: `the name of a ${kind} derived from this would have ${name.length} characters; ${most} are allowed`,
      value: path.at(-1),
      help: kind === "subscription" ? "shorten it" : "shorten it, or the system's name",
    }),
  ];
}

/** Two entities or two rules with one name: Service Bus tells upper and lower case not apart, and queues and topics share their names. */
export function diagnoseClashes({ queues, topics, subscriptions }: ServicebusTopology): Diagnostic[] {
  const named = [
    ...topics.map(({ name, source }) => ({ name, path: ["sources", source], what: `the topic of ${source}` })),
    ...queues.map(({ name, role, consumer }) => ({
      name,
      path: consumer === null ? ["name"] : ["consumers", consumer],
      what: consumer === null ? "the shared dead queue" : `the ${role} queue of ${consumer}`,
    })),
  ];
  const rules = subscriptions.map((subscription) =>
    subscription.rules.map(({ name }) => ({
      name,
      path: ["consumers", subscription.consumer, "from"],
      what: `a rule of ${subscription.consumer} on ${subscription.topic}`,
    })),
  );
  return [named, ...rules].flatMap((each) => clashesIn(each));
}

function clashesIn(
  named: readonly { readonly name: string; readonly path: readonly string[]; readonly what: string }[],
): Diagnostic[] {
  const owners = new Map<string, string>();
  return named.flatMap(({ name, path, what }) => {
    const key = name.toLowerCase();
    const other = owners.get(key);
    owners.set(key, what);
    if (other === undefined) return [];
    return [
      diagnostic("RD708", {
        path,
        message: `${JSON.stringify(name)} would be ${other} and ${what}`,
        notes: ["queues and topics of a namespace share their names, and upper and lower case are the same there"],
        help: "rename one of the two",
      }),
    ];
  });
}

/** What the tier cannot do for a consumer, whatever the strategy. */
export function diagnoseConsumer(plan: ConsumerPlan, all: Plan, target: ServicebusTarget): Diagnostic[] {
  const path = ["consumers", plan.consumer];
  if (plan.retry === null) {
    return [
      diagnostic("RD709", {
        path: [...path, "delivery"],
        message: "a subscription of Service Bus does not end with the instance that reads it",
        value: "every-instance",
        notes: ["each instance would have to make its own, and it would fill up when the instance dies"],
        help: 'use delivery: "work-queue", or a target whose queues end with their connection: RabbitMQ',
      }),
    ];
  }
  return [
    ...tierProblems(plan, all, target),
    ...sessionProblems(plan),
    ...filterProblems(plan, all.sources),
    ...handlerTimeoutProblem(plan),
  ];
}

/** Without topics a source is the queue of the one consumer that takes all of it. */
function tierProblems(plan: ConsumerPlan, { consumers }: Plan, { sku }: ServicebusTarget): Diagnostic[] {
  const path = ["consumers", plan.consumer];
  const missing = (at: readonly string[], message: string, help: string): Diagnostic =>
    diagnostic("RD704", { path: [...path, ...at], message, notes: [`the ${sku} tier has queues only`], help });
  if (skus[sku].topics) return [];
  return [
    ...Object.entries(plan.from).flatMap(([source, keys]) => {
      const others = consumers.filter(
        ({ consumer, from }) => consumer !== plan.consumer && Object.hasOwn(from, source),
      );
      if (others.length === 0 && keys === "all") return [];
      return [
        missing(
          ["from", source],
          keys === "all"
            ? `${source} is taken by ${count(others.length + 1, "consumer")}, and only a topic gives each its own copy`
            : `${source} is taken by routing key, and only a topic tells routing keys apart`,
          "use the standard tier",
        ),
      ];
    }),
    ...(plan.order === "per-key" && !skus[sku].sessions
      ? [missing(["order"], "order per key takes sessions", "use the standard tier, or leave order out")]
      : []),
  ];
}

/** A session-enabled subscription cannot be forwarded from, so each source would be an entity of its own to receive from. */
function sessionProblems({ consumer, order, from }: ConsumerPlan): Diagnostic[] {
  const sources = Object.keys(from);
  if (order !== "per-key" || sources.length === 1) return [];
  return [
    diagnostic("RD710", {
      path: ["consumers", consumer, "from"],
      message: `${consumer} takes ${count(sources.length, "source")} in order; messages in sessions are not forwarded into one queue`,
      value: sources.join(", "),
      notes: ['Service Bus documentation, "Chaining Service Bus entities with autoforwarding": not with sessions'],
      help: 'take one source with order: "per-key", or leave order out',
    }),
  ];
}

function filterProblems({ consumer, from }: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  const { subscriptionNameLength, filterLength } = servicebusLimits;
  return Object.entries(from).flatMap(([source, keys]) => {
    const path = ["consumers", consumer, "from", source];
    const problem = (at: readonly (string | number)[], message: string, help: string, value?: string): Diagnostic =>
      diagnostic("RD711", { path: [...path, ...at], message, help, ...(value === undefined ? {} : { value }) });
    if (keys === "all") return [];
    return keys.flatMap((key, index) => {
      const filter = filterOf(key, sources[source]?.kind ?? "topic");
      if ("message" in filter) return [problem([index], filter.message, filter.help, key)];
      const length = filter.filter.kind === "sql" ? filter.filter.expression.length : 0;
      if (length > filterLength) {
        const message = `the filter would have ${length} characters; Service Bus takes ${filterLength}`;
        return [problem([index], message, "take a pattern with fewer wildcards", key)];
      }
      const name = ruleName(key);
      if (name.length <= subscriptionNameLength && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return [];
      const message = `the rule for it would be named ${JSON.stringify(name)}; Service Bus takes ${subscriptionNameLength} letters, digits, periods, hyphens and underscores`;
      return [problem([index], message, "use a shorter routing key of these characters", key)];
    });
  });
}

function handlerTimeoutProblem({ consumer, handlerTimeoutMs }: ConsumerPlan): Diagnostic[] {
  const most = servicebusLimits.renewalMs - servicebusDefaults.settleMs;
  if (handlerTimeoutMs === null || handlerTimeoutMs <= most) return [];
  return [
    diagnostic("RD712", {
      path: ["consumers", consumer, "handlerTimeout"],
      message: `the handler may run for ${formatDurationMs(handlerTimeoutMs)}; a lock is renewed for ${formatDurationMs(most)} at most`,
      notes: ["the SDKs renew a lock by a timer, and no timer of theirs runs for longer"],
      help: "shorten the handler, or let it start the long work elsewhere",
    }),
  ];
}

/** The refusal where no strategy, or not the one asked for, keeps every promise. */
export function refuseStrategy(
  target: ServicebusTarget,
  { consumer }: ConsumerPlan,
  objections: ReadonlyMap<StrategyName, readonly Objection[]>,
): Diagnostic {
  if (target.strategy !== "auto") {
    const keeps = [...objections].filter(([name, each]) => each.length === 0 && name !== "ttl-tier");
    const [first, ...others] = objections.get(target.strategy) ?? [];
    return diagnostic("RD705", {
      path: ["consumers", consumer, ...(first?.path ?? [])],
      message: `${target.strategy} on ${formatTarget(target)} cannot keep this: ${first?.reason ?? ""}`,
      notes: others.map(({ reason }) => `also: ${reason}`),
      help:
        keeps.length > 0
          ? `use strategy ${keeps.map(([name]) => name).join(" or ")}, which keeps it`
          : "no strategy of Service Bus keeps it; change the declaration",
    });
  }
  const tried = [...objections].filter(([name]) => name !== "ttl-tier");
  const [closest, [first] = []] = tried.toSorted(([, a], [, b]) => a.length - b.length)[0] ?? [];
  return diagnostic("RD706", {
    path: ["consumers", consumer, ...(first?.path ?? [])],
    message: `${formatTarget(target)} has no strategy for what ${consumer} declares`,
    notes: tried.map(([name, each]) => `${name}: ${each.map(({ reason }) => reason).join("; ")}`),
    help: `change ${first?.path.join(".") ?? "the consumer"}: strategy ${closest} comes closest`,
  });
}
