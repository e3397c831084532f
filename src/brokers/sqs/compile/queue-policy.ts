import { principalOf } from "./services.ts";
import type { SqsQueue } from "./topology.ts";

/** The ARNs of resources: as text, or as a placeholder that a deployment tool replaces. */
export interface Arns<Arn> {
  readonly queue: (name: string) => Arn;
  readonly topic: (name: string) => Arn;
}

/**
 * The policy of a queue, beside the rights of the account's own principals. The named topics, rules and buckets may
 * send, and every request must use TLS. The policy needs a version. Without it AWS reads the policy by older rules, and a deployment
 * waits for ever. Source: SQS Developer Guide, "Enforce encryption of data in transit"; SNS Developer Guide,
 * "Subscribing a queue to a topic"; EventBridge User Guide, "Using resource-based policies"; S3 User Guide, "Granting
 * permissions to publish event notification messages to a destination".
 */
export function queuePolicy<Arn>(queue: SqsQueue, arns: Arns<Arn>): object {
  const topics = queue.sendersTopics.map(arns.topic);
  const services = Map.groupBy(queue.sendersServices ?? [], principalOf);
  const maySend = (sid: string, service: string, sources: readonly unknown[]): object => ({
    Sid: sid,
    Effect: "Allow",
    Principal: { Service: service },
    Action: "sqs:SendMessage",
    Resource: arns.queue(queue.name),
    Condition: { ArnEquals: { "aws:SourceArn": sources } },
  });
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "TlsOnly",
        Effect: "Deny",
        Principal: "*",
        Action: "sqs:*",
        Resource: arns.queue(queue.name),
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
      ...(topics.length === 0 ? [] : [maySend("Topics", "sns.amazonaws.com", topics)]),
      ...[...services].map(([principal, sources]) =>
        maySend(principal === "s3.amazonaws.com" ? "Buckets" : "Rules", principal, sources),
      ),
    ],
  };
}
