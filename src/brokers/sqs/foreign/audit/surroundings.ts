import { type AuditedQueue, type AuditedRegion, type Deployment, known, nameIn, placeIn } from "../deployment.ts";

export type Surroundings = ReturnType<typeof surroundingsOf>;

export function surroundingsOf(deployment: Deployment, { queues }: AuditedRegion) {
  const { subscriptions, mappings, deadLetterArns, isWhole, listedNames } = deployment;
  const byArn = new Map(queues.map((queue) => [queue.arn, queue]));
  const sources = Map.groupBy(queues, ({ redrive }) => known(redrive)?.targetArn ?? "");
  const bySubscription = Map.groupBy(known(subscriptions) ?? [], ({ queueArn }) => queueArn);
  const byMapping = Map.groupBy(mappings, ({ queueArn }) => queueArn);
  const [first] = queues;
  const place = first === undefined ? null : placeIn(first.arn);
  return {
    queues: byArn,
    /** The queues that move their messages to this one. */
    sourcesOf: ({ arn }: AuditedQueue) => sources.get(arn) ?? [],
    subscriptionsOf: ({ arn }: AuditedQueue) => bySubscription.get(arn) ?? [],
    mappingsOf: ({ arn }: AuditedQueue) => byMapping.get(arn) ?? [],
    /** True if a queue, a subscription or a function dead-letters to it. */
    isDeadLetterQueue: ({ arn }: AuditedQueue) => deadLetterArns.has(arn),
    /** True if the queue certainly does not exist. False if it merely was not read. */
    isMissing: (arn: string) => isWhole && placeIn(arn) === place && !byArn.has(arn) && !listedNames.has(nameIn(arn)),
    knowsSubscriptions: subscriptions !== "untold",
  };
}
