import type { AuditedQueue, AuditedRegion, AuditedSubscription, Deployment, LambdaMapping } from "../deployment.ts";
import { nameIn, placeIn } from "../deployment.ts";

/** What lies around the queues of a region. */
export interface Surroundings {
  readonly queues: ReadonlyMap<string, AuditedQueue>;
  /** The queues that move their messages to this one. */
  readonly sourcesOf: (queue: AuditedQueue) => readonly AuditedQueue[];
  readonly subscriptionsOf: (queue: AuditedQueue) => readonly AuditedSubscription[];
  readonly mappingsOf: (queue: AuditedQueue) => readonly LambdaMapping[];
  /** Whether something names the queue as the place of its dead letters. */
  readonly isDeadLetterQueue: (queue: AuditedQueue) => boolean;
  /** Whether it is known that there is no such queue, and not only that it was not read. */
  readonly isMissing: (arn: string) => boolean;
  readonly knowsSubscriptions: boolean;
}

export function surroundingsOf(deployment: Deployment, { queues }: AuditedRegion): Surroundings {
  const { subscriptions, mappings, deadLetterArns, isWhole, listedNames } = deployment;
  const byArn = new Map(queues.map((queue) => [queue.arn, queue]));
  const sources = Map.groupBy(queues, ({ redrive }) => (redrive === "untold" ? "" : (redrive?.targetArn ?? "")));
  const bySubscription = Map.groupBy(subscriptions === "untold" ? [] : subscriptions, ({ queueArn }) => queueArn);
  const byMapping = Map.groupBy(mappings, ({ queueArn }) => queueArn);
  const [first] = queues;
  const place = first === undefined ? null : placeIn(first.arn);
  return {
    queues: byArn,
    sourcesOf: ({ arn }) => sources.get(arn) ?? [],
    subscriptionsOf: ({ arn }) => bySubscription.get(arn) ?? [],
    mappingsOf: ({ arn }) => byMapping.get(arn) ?? [],
    isDeadLetterQueue: ({ arn }) => deadLetterArns.has(arn),
    isMissing: (arn) => isWhole && placeIn(arn) === place && !byArn.has(arn) && !listedNames.has(nameIn(arn)),
    knowsSubscriptions: subscriptions !== "untold",
  };
}
