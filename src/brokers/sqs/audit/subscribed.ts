import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { AuditedQueue, AuditedRegion, AuditedSubscription, Deployment } from "../deployment.ts";
import { isFifo, nameIn } from "../deployment.ts";
import { impossibleAttribute } from "./impossible-filter.ts";
import { topicMaySend } from "./policy-access.ts";
import type { Surroundings } from "./surroundings.ts";

/** What is wrong with the way from topics into a queue. */
export function subscribedBadly(queue: AuditedQueue, surroundings: Surroundings): Finding[] {
  return surroundings
    .subscriptionsOf(queue)
    .flatMap((subscription) => [
      ...withoutDeadLetterQueue(queue, subscription),
      ...missingDeadLetterQueue(queue, subscription, surroundings),
      ...notLetIn(queue, subscription, surroundings),
      ...withoutKey(queue, subscription, surroundings),
      ...ofAnotherType(queue, subscription),
      ...takesNothing(queue, subscription),
    ]);
}

function topicText({ topicArn }: AuditedSubscription): string {
  return nameText(nameIn(topicArn));
}

function withoutDeadLetterQueue({ name }: AuditedQueue, subscription: AuditedSubscription): Finding[] {
  if (subscription.deadLetterArn !== null) return [];
  return [
    {
      code: "RD456",
      queue: name,
      predicate: `is subscribed to the topic ${topicText(subscription)} without a dead-letter queue of the subscription`,
      notes: [
        "what SNS cannot hand over, as long as the queue, its policy or its key is broken, is deleted in the end",
      ],
      help: "name a queue in the RedrivePolicy of the subscription; that of the queue itself is for what its consumer fails on",
    },
  ];
}

function missingDeadLetterQueue(
  { name }: AuditedQueue,
  subscription: AuditedSubscription,
  { isMissing }: Surroundings,
): Finding[] {
  const { deadLetterArn } = subscription;
  if (deadLetterArn === null || deadLetterArn === "untold" || !isMissing(deadLetterArn)) return [];
  const target = nameText(nameIn(deadLetterArn));
  return [
    {
      code: "RD441",
      queue: name,
      predicate: `is subscribed to the topic ${topicText(subscription)} with the dead-letter queue ${target}, which does not exist`,
      notes: ["what SNS cannot hand over to the queue is deleted"],
      help: `create ${target} again, or name another queue in the RedrivePolicy of the subscription`,
    },
  ];
}

/** SNS asks the policy of the queue, and that of the subscription's dead-letter queue. */
function notLetIn(queue: AuditedQueue, subscription: AuditedSubscription, { queues }: Surroundings): Finding[] {
  const { deadLetterArn, topicArn } = subscription;
  const dead = deadLetterArn === null || deadLetterArn === "untold" ? undefined : queues.get(deadLetterArn);
  const isShut = ({ statements, arn }: AuditedQueue): boolean =>
    statements !== "untold" && topicMaySend(statements, arn, topicArn) === "no";
  const finding = (target: AuditedQueue, predicate: string, consequence: string): Finding => ({
    code: "RD457",
    queue: queue.name,
    predicate,
    notes: [consequence, "publishers are told nothing of it"],
    help: `allow the service sns.amazonaws.com to sqs:SendMessage in the policy of ${nameText(target.name)}, with aws:SourceArn ${topicArn}`,
  });
  const topic = topicText(subscription);
  return [
    ...(isShut(queue)
      ? [
          finding(
            queue,
            `is subscribed to the topic ${topic}, which its policy does not let in`,
            "no message of the topic arrives",
          ),
        ]
      : []),
    ...(dead !== undefined && isShut(dead)
      ? [
          finding(
            dead,
            `is subscribed to the topic ${topic}, which the policy of the dead-letter queue ${nameText(dead.name)} does not let in`,
            "what SNS cannot hand over to the queue is deleted, since it cannot be put there either",
          ),
        ]
      : []),
  ];
}

/** The policy of a key that AWS manages lets no service in, and cannot be changed. */
function withoutKey(queue: AuditedQueue, subscription: AuditedSubscription, { queues }: Surroundings): Finding[] {
  const { deadLetterArn } = subscription;
  const dead = deadLetterArn === null || deadLetterArn === "untold" ? undefined : queues.get(deadLetterArn);
  const isLocked = ({ keyId }: AuditedQueue): boolean =>
    keyId !== "untold" && keyId?.endsWith("alias/aws/sqs") === true;
  const locked = isLocked(queue) ? queue : dead !== undefined && isLocked(dead) ? dead : null;
  if (locked === null) return [];
  const whose = locked === queue ? "" : ` of the dead-letter queue ${nameText(locked.name)}`;
  return [
    {
      code: "RD464",
      queue: queue.name,
      predicate: `is subscribed to the topic ${topicText(subscription)}, which cannot use the key alias/aws/sqs${whose}`,
      notes: ["what is published to the topic does not arrive, and publishers are told nothing of it"],
      help: "use SSE-SQS, or a key of your own whose policy allows sns.amazonaws.com kms:GenerateDataKey and kms:Decrypt",
    },
  ];
}

function ofAnotherType({ name, arn }: AuditedQueue, subscription: AuditedSubscription): Finding[] {
  const { topicArn, deadLetterArn } = subscription;
  if (isFifo(arn) && !isFifo(topicArn)) {
    return [
      {
        code: "RD459",
        queue: name,
        predicate: `is FIFO and subscribed to the standard topic ${topicText(subscription)}`,
        notes: ["only a FIFO topic hands over to a FIFO queue"],
        help: "make the topic FIFO, or the queue standard",
      },
    ];
  }
  if (deadLetterArn === null || deadLetterArn === "untold" || isFifo(deadLetterArn) === isFifo(arn)) return [];
  return [
    {
      code: "RD459",
      queue: name,
      predicate: `is subscribed to the topic ${topicText(subscription)} with a dead-letter queue of the other type`,
      notes: ["the dead-letter queue of a subscription is FIFO where the queue is, and standard where it is"],
      help: "name a dead-letter queue of the queue's own type",
    },
  ];
}

function takesNothing({ name }: AuditedQueue, subscription: AuditedSubscription): Finding[] {
  const { filterPolicy } = subscription;
  const attribute = filterPolicy === null || filterPolicy === "untold" ? null : impossibleAttribute(filterPolicy);
  if (attribute === null || filterPolicy === null || filterPolicy === "untold") return [];
  return [
    {
      code: "RD458",
      queue: name,
      predicate: `is subscribed to the topic ${topicText(subscription)} with a filter that no message meets`,
      notes: [`nothing meets what is asked of ${nameText(attribute)}: ${JSON.stringify(filterPolicy)}`],
      help: "name at least one value that messages have, or take the subscription away",
    },
  ];
}

/** Subscriptions of queues that are not there, which SNS keeps. */
export function subscriptionsOfNobody(
  { subscriptions }: Deployment,
  { queues }: AuditedRegion,
  { isMissing }: Surroundings,
): Finding[] {
  if (subscriptions === "untold" || queues.length === 0) return [];
  return subscriptions
    .filter(({ queueArn }) => isMissing(queueArn))
    .map((subscription) => ({
      code: "RD461",
      queue: nameIn(subscription.queueArn),
      predicate: `is subscribed to the topic ${topicText(subscription)} and does not exist`,
      notes: [
        "every message of the topic goes to the subscription's dead-letter queue, or is deleted where it has none",
      ],
      help: "take the subscription away, or create the queue again",
    }));
}
