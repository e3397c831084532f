import type { ServicebusQueue, ServicebusSubscription, ServicebusTopic, ServicebusTopology } from "../topology.ts";
import { subscriptionPath } from "../topology.ts";
import { readSqlFilter } from "./sql-filter.ts";

/** A place where messages are: a queue or a subscription. */
export type Entity = ServicebusQueue | ServicebusSubscription;

/** Whether a rule lets a subject in; unknown where its expression has something that is not known here. */
export type Taken = "yes" | "no" | "unknown";

/** A topology, looked up once. */
export interface Context {
  /** By a queue's name or a subscription's path. */
  readonly entities: ReadonlyMap<string, Entity>;
  readonly topics: ReadonlyMap<string, ServicebusTopic>;
  readonly subscriptions: ReadonlyMap<string, readonly Subscribed[]>;
}

export interface Subscribed {
  readonly path: string;
  readonly takes: (subject: string | null) => Taken;
}

export function contextOf({
  queues,
  topics,
  subscriptions,
}: Pick<ServicebusTopology, "queues" | "topics" | "subscriptions">): Context {
  const named = subscriptions.map((subscription) => ({ subscription, path: subscriptionPath(subscription) }));
  return {
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
function takesOf({ rules }: ServicebusSubscription): Subscribed["takes"] {
  const tests = rules.map(({ filter }): Subscribed["takes"] => {
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
