import type { ServicebusQueue, ServicebusSubscription, ServicebusTopology } from "../../compile/topology.ts";
import { subscriptionPath } from "../../compile/topology.ts";
import { readSqlFilter } from "./sql-filter.ts";

/** A place for messages: a queue or a subscription. */
export type Entity = ServicebusQueue | ServicebusSubscription;

/** Tells if a rule lets a subject in; unknown if Redeliver cannot read its whole expression. */
export type Taken = "yes" | "no" | "unknown";

type Takes = (subject: string | null) => Taken;

export type Context = ReturnType<typeof contextOf>;

export function contextOf({
  queues,
  topics,
  subscriptions,
}: Pick<ServicebusTopology, "queues" | "topics" | "subscriptions">) {
  const named = subscriptions.map((subscription) => ({ subscription, path: subscriptionPath(subscription) }));
  return {
    /** By the name of a queue or the path of a subscription. */
    entities: new Map<string, Entity>([
      ...queues.map((queue) => [queue.name, queue] as const),
      ...named.map(({ subscription, path }) => [path, subscription] as const),
    ]),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    subscriptions: Map.groupBy(
      named.map(({ subscription, path }) => ({ topic: subscription.topic, path, takes: takesOf(subscription) })),
      ({ topic }) => topic,
    ),
  };
}

/** One rule that lets a message in is enough. Claims: topic-reaches-all, rules-compare, sql-compares. */
function takesOf({ rules }: ServicebusSubscription): Takes {
  const tests = rules.map(({ filter }): Takes => {
    switch (filter.kind) {
      case "true":
        return () => "yes";
      case "false":
        return () => "no";
      case "correlation":
        return (subject) => (subject === filter.subject ? "yes" : "no");
      case "sql": {
        const test = readSqlFilter(filter.expression);
        return test === null ? () => "unknown" : (subject) => (test(subject) ? "yes" : "no");
      }
      default:
        return filter satisfies never;
    }
  });
  return (subject) => {
    const answers = new Set(tests.map((test) => test(subject)));
    if (answers.has("yes")) return "yes";
    return answers.has("unknown") ? "unknown" : "no";
  };
}
