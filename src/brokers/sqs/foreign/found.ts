import { isArn } from "../compile/arn.ts";
import type { SnsSubscription, SqsQueue, SqsTopology } from "../compile/topology.ts";
import { serviceMaySend } from "./audit/policy-access.ts";
import {
  type AuditedQueue,
  type AuditedSubscription,
  type Deployment,
  accountIn,
  known,
  regionIn,
} from "./deployment.ts";

/** One account and region, with the names that a topology has for its resources. */
export type Found = ReturnType<typeof foundIn>;

export function foundIn(deployment: Deployment) {
  const all = deployment.regions.flatMap(({ queues }) => queues);
  const [first] = all;
  const arn = first?.arn ?? "";
  const [region, account] = [regionIn(arn), accountIn(arn)];
  const partition = arn.split(":")[1] ?? "aws";
  return {
    deployment,
    region,
    /** The region and the account, as in an ARN. */
    place: `${region}:${account}`,
    /** By name. */
    queues: new Map(all.map((queue) => [queue.name, queue])),
    arn: (service: "sqs" | "sns", name: string) =>
      isArn(name) ? name : `arn:${partition}:${service}:${region}:${account}:${name}`,
  };
}

/** The name of a resource of the account and region, and the whole ARN of another one. */
export function namedIn({ place }: Found, arn: string): string {
  const [, , , region, account, name = ""] = arn.split(":");
  return `${region}:${account}` === place ? name : arn;
}

/**
 * A queue for the model, with the attributes that decide about messages.
 *
 * @param declared null for a queue that is not declared. Otherwise its values stand for those that cannot be read
 */
export function queueAsFound(
  queue: AuditedQueue,
  declared: SqsQueue | null,
  { topics }: SqsTopology,
  found: Found,
): SqsQueue {
  const { name, arn, fifo, redrive, redriveAllow, statements } = queue;
  const allowed = known(redriveAllow);
  const sources = allowed?.permission === "byQueue" ? allowed.sourceArns.map((each) => namedIn(found, each)) : [];
  const target = known(redrive);
  const senders = statements === "untold" ? null : senderTopics(statements, arn, topics, found);
  return {
    name,
    role: declared?.role ?? "work",
    consumer: declared?.consumer ?? null,
    fifo,
    visibilityTimeoutSeconds: queue.visibilityTimeoutSeconds ?? declared?.visibilityTimeoutSeconds ?? 30,
    retentionSeconds: queue.retentionSeconds ?? declared?.retentionSeconds ?? 345_600,
    delaySeconds: queue.delaySeconds ?? declared?.delaySeconds ?? 0,
    receiveWaitSeconds: declared?.receiveWaitSeconds ?? 0,
    encryption: declared?.encryption ?? { kind: "sqs" },
    redrive:
      target === null
        ? redrive === null
          ? null
          : (declared?.redrive ?? null)
        : {
            deadQueue: namedIn(found, target.targetArn),
            maxReceiveCount: target.maxReceiveCount ?? declared?.redrive?.maxReceiveCount ?? 1,
          },
    redriveAllow:
      allowed === null
        ? (declared?.redriveAllow ?? { permission: "denyAll" })
        : allowed.permission === "denyAll"
          ? { permission: "denyAll" }
          : {
              permission: "byQueue",
              sourceQueues: allowed.permission === "allowAll" ? [...found.queues.keys(), name] : sources,
            },
    sendersTopics: senders ?? declared?.sendersTopics ?? [],
  };
}

/** The topics that the policy lets in, and those of which Redeliver does not know it. */
function senderTopics(
  statements: Parameters<typeof serviceMaySend>[0],
  arn: string,
  topics: SqsTopology["topics"],
  { deployment, ...found }: Found,
): readonly string[] {
  const subscribed = known(deployment.subscriptions) ?? [];
  const arns = new Set([
    ...topics.map(({ name }) => found.arn("sns", name)),
    ...subscribed.map((each) => each.topicArn),
  ]);
  return [...arns]
    .filter((topicArn) => serviceMaySend(statements, arn, topicArn) !== "no")
    .map((topicArn) =>
      topics.some(({ name }) => name === topicArn) ? topicArn : namedIn({ deployment, ...found }, topicArn),
    );
}

/** A subscription for the model. The values of `declared` stand for those that cannot be read. */
export function subscriptionAsFound(
  { deadLetterArn, filterPolicy }: AuditedSubscription,
  declared: SnsSubscription,
  found: Found,
): SnsSubscription {
  const filters = Object.entries(known(filterPolicy) ?? {}).map(([attribute, value]): [string, unknown[]] => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    // An empty object stands for a value that the model does not know.
    return [attribute, values.map((each) => each ?? {})];
  });
  const deadQueue = deadLetterArn === null ? "" : namedIn(found, known(deadLetterArn) ?? declared.deadQueue);
  // The model follows no stated filter.
  const asDeclared = filterPolicy === "untold" || declared.stated !== undefined ? declared.filterPolicy : null;
  const isOpen = known(filterPolicy) === null || declared.stated !== undefined;
  return { ...declared, deadQueue, filterPolicy: isOpen ? asDeclared : Object.fromEntries(filters) };
}
