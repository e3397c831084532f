import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import {
  longName,
  nameClashes,
  oncePerTemplate,
  refuseEveryInstance,
  refuseHandlerTimeout,
  refuseOtherKinds,
  refuseUnnamed,
  refuseQueueArguments,
  refuseTemplate,
} from "../../../contract/shared-problems.ts";
import { refuseSourceArguments } from "../../../contract/source-arguments.ts";
import { pathOfOwn, pathOfQueue, pathOfSource, pathOfSystem } from "../../../plan/names.ts";
import { type ConsumerPlan, isDirect, type Plan } from "../../../plan/plan.ts";
import { type ServicebusTarget, servicebusDefaults, servicebusLimits, skus } from "./capabilities.ts";
import { filterOf } from "./filter.ts";
import { isRuleName, parkedQueueName, ruleName, subscriptionName, topicName, workQueueName } from "./names.ts";
import { count } from "../../../contract/in-words.ts";
import type { ServicebusTopology } from "./topology.ts";

/** Finds names that no queue, topic or subscription may have. */
export function diagnoseNames(plan: Plan): Diagnostic[] {
  const { system, sources, consumers } = plan;
  const { nameLength, subscriptionNameLength } = servicebusLimits;
  return oncePerTemplate([
    ...characterProblem(pathOfSystem(plan), system),
    ...refuseOtherKinds(sources, "Service Bus", ["headers", "opaque"]),
    ...refuseSourceArguments(sources, "Service Bus"),
    ...Object.keys(sources).flatMap((name) => {
      const path = pathOfSource(plan, name);
      const longest = topicName(plan, name);
      const found = [
        ...characterProblem(path, path.length > 2 || path[0] === "names" ? longest : name),
        ...longName({ path, name, what: "a topic name", longest, most: nameLength }),
      ];
      if (sources[name]?.owner !== "other") return found;
      const named = found.map((each) => ({ ...each, help: "write the name of a topic in the namespace" }));
      return [...refuseUnnamed(plan, name, longest), ...named];
    }),
    ...consumers.flatMap((consumer) => {
      const { consumer: name } = consumer;
      const own = ["consumers", name];
      const path = pathOfQueue(plan, consumer);
      const work = workQueueName(plan, consumer);
      const subscriptions = Object.keys(consumer.from).map((source) => subscriptionName(plan, source, consumer));
      const subscription = subscriptions.toSorted((one, other) => other.length - one.length)[0] ?? name;
      const longest = consumer.retry?.park === true ? parkedQueueName(plan, consumer) : work;
      return [
        ...characterProblem(own, name),
        ...(path.length === 2 && path[0] === "consumers" ? [] : characterProblem(path, work)),
        ...longName({
          path: own,
          name,
          what: "a subscription name",
          longest: subscription,
          most: subscriptionNameLength,
        }),
        ...longName({ path, name, what: "a queue name", longest, most: nameLength }),
        ...queueOfSubscription(consumer),
        ...ownDeadQueue(consumer),
      ];
    }),
    ...refuseTemplate(plan, "dead", namesDead),
    ...refuseTemplate(plan, "shared", "consumers on Service Bus share no queues or topics but sources"),
  ]);
}

/** A consumer that takes a source in order receives from its subscription, and has no queue. */
function queueOfSubscription({ consumer, queue, order, from }: ConsumerPlan): Diagnostic[] {
  if (queue === undefined || order !== "per-key" || isDirect({ from })) return [];
  return diagnosed("RD204", {
    path: ["consumers", consumer, "queue"],
    message: `${consumer} has no queue that could have this name: in order it receives from its subscription`,
    value: queue,
    help: "leave queue out, or leave from out so that producers send straight to the queue",
  });
}

const namesDead = "Service Bus itself names the dead-letter queue of a queue";

function ownDeadQueue({ consumer, deadQueue: value }: ConsumerPlan): Diagnostic[] {
  const path = ["consumers", consumer, "deadLetter", "queue"];
  return value === undefined ? [] : diagnosed("RD204", { path, message: namesDead, value, help: "leave queue out" });
}

function characterProblem(path: readonly string[], name: string): Diagnostic[] {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) return [];
  const odd = [...new Set(name.replaceAll(/[A-Za-z0-9._-]/g, ""))].join("");
  return diagnosed("RD204", {
    path,
    message:
      odd === ""
        ? "the name does not begin and end with a letter or a digit"
        : `the name has ${JSON.stringify(odd)} in it; Service Bus takes letters, digits, periods, hyphens and underscores`,
    value: name,
    help: `write for example ${JSON.stringify(name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[._-]+|[._-]+$/g, ""))}`,
  });
}

/**
 * Finds two entities or two rules with one name. Service Bus ignores upper and lower case, and queues and topics share
 * their names.
 */
export function diagnoseClashes(plan: Plan, { queues, topics, subscriptions }: ServicebusTopology): Diagnostic[] {
  const named = [
    ...topics.map(({ name, source }) => ({
      name,
      pathOf: () => pathOfSource(plan, source),
      what: `the topic of ${source}`,
    })),
    ...queues.map(({ name, role, consumer }) => ({
      name,
      pathOf: () => (consumer === null ? pathOfSystem(plan) : pathOfOwn(plan, consumer, role)),
      what: consumer === null ? "the shared dead queue" : `the ${role} queue of ${consumer}`,
    })),
  ];
  const rules = subscriptions.map((subscription) =>
    subscription.rules.map(({ name }) => ({
      name,
      pathOf: () => ["consumers", subscription.consumer, "from"],
      what: `a rule of ${subscription.consumer} on ${subscription.topic}`,
    })),
  );
  const note = "queues and topics of a namespace share one set of names, and upper and lower case are the same there";
  return [named, ...rules].flatMap((each) => nameClashes(plan, each, note, (name) => name.toLowerCase()));
}

/** Finds a consumer's problems in this tier that no strategy could solve. */
export function diagnoseConsumer(plan: ConsumerPlan, all: Plan, target: ServicebusTarget): Diagnostic[] {
  if (plan.retry === null) return [refuseEveryInstance(plan, "a subscription of Service Bus", "RabbitMQ")];
  return [
    ...tierProblems(plan, all, target),
    ...sessionProblems(plan),
    ...filterProblems(plan, all.sources),
    ...refuseQueueArguments(plan, "Service Bus"),
    ...handlerTimeoutProblem(plan),
  ];
}

/** Without topics, a source is the queue of one consumer, which takes all of its messages. */
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
            : `${source} is taken by routing key, and only a topic distinguishes routing keys`,
          "use the standard tier",
        ),
      ];
    }),
    ...(plan.order === "per-key" && !skus[sku].sessions
      ? [missing(["order"], "order per key needs sessions", "use the standard tier, or leave order out")]
      : []),
  ];
}

/** A subscription with sessions cannot forward. So the consumer would have to receive from each source separately. */
function sessionProblems({ consumer, order, from }: ConsumerPlan): Diagnostic[] {
  const sources = Object.keys(from);
  if (order !== "per-key" || sources.length <= 1) return [];
  return diagnosed("RD710", {
    path: ["consumers", consumer, "from"],
    message: `${consumer} takes ${count(sources.length, "source")} in order; a subscription with sessions does not forward into a queue`,
    value: sources.join(", "),
    notes: ['Service Bus documentation, "Chaining Service Bus entities with autoforwarding": not with sessions'],
    help: 'take one source with order: "per-key", or leave order out',
  });
}

function filterProblems({ consumer, from }: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  const { subscriptionNameLength, filterLength } = servicebusLimits;
  return Object.entries(from).flatMap(([source, keys]) => {
    const path = ["consumers", consumer, "from", source];
    const problem = (at: readonly (string | number)[], message: string, help: string, value?: string): Diagnostic =>
      diagnostic("RD216", { path: [...path, ...at], message, help, ...(value === undefined ? {} : { value }) });
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
      if (isRuleName(name)) return [];
      const message = `the rule for it would be named ${JSON.stringify(name)}; Service Bus takes ${subscriptionNameLength} letters, digits, periods, hyphens and underscores`;
      return [problem([index], message, "use a shorter routing key of these characters", key)];
    });
  });
}

function handlerTimeoutProblem(plan: ConsumerPlan): Diagnostic[] {
  const most = servicebusLimits.renewalMs - servicebusDefaults.settleMs;
  return refuseHandlerTimeout(plan, most, "the SDKs renew a lock by a timer, which runs no longer");
}
