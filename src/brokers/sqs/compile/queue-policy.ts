import type { SqsQueue } from "./topology.ts";

/** The ARNs of resources: as text, or as a placeholder that a deployment tool replaces. */
export interface Arns<Arn> {
  readonly queue: (name: string) => Arn;
  readonly topic: (name: string) => Arn;
}

/**
 * The policy of a queue, beside the rights of the account's own principals. The named topics may send, and every
 * request must use TLS. The policy needs a version. Without it AWS reads the policy by older rules, and a deployment
 * waits for ever. Source: SQS Developer Guide, "Enforce encryption of data in transit"; SNS Developer Guide,
 * "Subscribing a queue to a topic".
 */
export function queuePolicy<Arn>(queue: SqsQueue, arns: Arns<Arn>): object {
  const topics = queue.sendersTopics.map(arns.topic);
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
      ...(topics.length === 0
        ? []
        : [
            {
              Sid: "Topics",
              Effect: "Allow",
              Principal: { Service: "sns.amazonaws.com" },
              Action: "sqs:SendMessage",
              Resource: arns.queue(queue.name),
              Condition: { ArnEquals: { "aws:SourceArn": topics } },
            },
          ]),
    ],
  };
}
