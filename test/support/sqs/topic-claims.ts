import { type Claim, noSns } from "./claim.ts";

/** The behaviour of a topic in front of the queues. */
export const topicClaims = {
  "topic-reaches-all": {
    says: "a topic gives every subscribed queue a copy, and a retry of one reaches nobody else",
    aws: { first: ["1", "2"], second: ["1"], secondAfterRetry: 0 },
    source: "docs.aws.amazon.com/sns/latest/dg/sns-sqs-as-subscriber.html",
    gaps: noSns,
  },
  "topic-raw-delivery": {
    says: "raw delivery gives the queue the published body and attributes and nothing around them",
    aws: { body: "order", attribute: "order.placed" },
    source: "docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html",
    gaps: noSns,
  },
  "topic-filter": {
    says: "a filter policy lets through only the messages whose attributes it names",
    aws: ["placed"],
    source: "docs.aws.amazon.com/sns/latest/dg/sns-message-filtering.html",
    gaps: noSns,
  },
  "topic-dead-letters": {
    says: "messages that a subscription cannot deliver go to the subscription's own dead-letter queue",
    aws: { answer: "accepted", dead: 1 },
    source: "docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html",
    gaps: { ...noSns, moto: { observed: { answer: "refused", dead: 0 }, does: "fails the publish instead" } },
  },
  "topic-raw-attributes": {
    says: "with raw delivery SNS hands over a message of ten attributes, and not one of eleven",
    aws: { ten: { answer: "accepted", work: 1 }, eleven: { answer: "accepted", work: 0 } },
    source: "docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html",
    gaps: {
      ...noSns,
      moto: {
        observed: { ten: { answer: "accepted", work: 1 }, eleven: { answer: "accepted", work: 1 } },
        does: "hands it over all the same",
      },
    },
  },
  "topic-wants-queue-policy": {
    says: "a topic reaches no queue whose policy does not allow it",
    aws: 0,
    source: "docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html",
    gaps: { ...noSns, moto: { observed: 1, does: "asks no policy" } },
  },
} as const satisfies Readonly<Record<string, Claim>>;
