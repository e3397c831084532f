import { type Rule, assumed } from "../semantics-rule.ts";

const page = (title: string): string => `Service Bus documentation, ${JSON.stringify(title)}`;
const deadLetters = page("Overview of Service Bus dead-letter queues");
const expiration = page("Message expiration (Time to Live)");
const forwarding = page("Chaining Service Bus entities with autoforwarding");
const settlement = page("Message transfers, locks, and settlement");
const sessions = page("Message sessions");
const sdk = (test: string): string => `tests of @azure/service-bus: ${test}`;

/**
 * All the rules that the semantics relies on. None was tried on the service itself. Documented rules follow the
 * documentation; the rest are assumptions.
 */
export const claims = {
  // Deliveries and locks
  "count-on-abandon": {
    says: "an abandoned message returns at once, and its delivery count is one higher",
    source: settlement,
  },
  "release-is-not-counted": assumed(
    "a released message returns at once, and its delivery count is as before, or one higher",
    "Azure/amqpnetlite issue 342: a user saw it counted, and a maintainer of Service Bus says that it is not. azure-sdk-for-python pull request 47999 relies on the maintainer. Redeliver assumes that it may count",
  ),
  "count-on-lock-expiry": {
    says: "a message whose lock, or whose session's lock, runs out returns, and its delivery count is one higher",
    source: `${settlement}; ${sessions}`,
  },
  "dead-after-max-delivery-count": {
    says: "when a failure raises the delivery count to the max delivery count, the message is dead-lettered",
    source: `${deadLetters}; ${sdk("ten abandons, seen with counts 0 to 9, then in the dead-letter queue")}`,
  },
  "session-close-is-not-counted": {
    says: "a closed session returns its unsettled messages, and counts nothing",
    source: sessions,
  },
  "session-outlives-its-connection": {
    says: "a session whose receiver lost its connection or its process stays locked until its lock runs out, and that counts",
    source: `${sessions}; azure-docs issue 41048`,
  },
  "late-settlement-is-refused": {
    says: "settling or renewing after the lock ran out fails with an error and changes nothing",
    source: settlement,
  },
  "defer-counts": {
    says: "a deferred message keeps its place and is delivered only by its sequence number; deferring it counts as a delivery",
    source: sdk("the delivery count is 1 after a defer"),
  },
  "defer-at-the-limit": assumed("the defer that reaches the max delivery count dead-letters the message, or defers it"),
  "receive-and-delete-forgets": {
    says: "in the mode receive-and-delete the message is deleted when it is sent to the receiver",
    source: settlement,
  },

  // Dead letters
  "dead-letters-stay": {
    says: "a dead-letter queue ignores times to live, counts no deliveries, and dead-letters nothing",
    source: `${deadLetters}; ${sdk("the delivery count stays 0 after an abandon in the dead-letter queue")}`,
  },
  "dead-letters-are-forwarded": {
    says: "with a queue to forward dead letters to, they do not stay in the entity's own dead-letter queue",
    source: deadLetters,
  },
  "dead-letters-wait-for-a-closed-queue": {
    says: "dead letters that cannot be forwarded stay in the entity's own dead-letter queue and are tried again",
    source: "azure-service-bus issue 666",
  },
  "count-after-dead-letter-forwarding": assumed(
    "a dead letter that is forwarded has a delivery count of 0 there, or keeps its own",
  ),

  // Time to live
  "shorter-time-to-live-counts": {
    says: "the shorter of the message's and the entity's time to live counts",
    source: expiration,
  },
  "expiry-dead-letters": {
    says: "an expired message becomes a dead letter if dead-lettering on expiry is on; otherwise it is dropped",
    source: expiration,
  },
  "expiry-is-lazy": {
    says: "an expired message is dead-lettered at any later time, and is delivered no more",
    source: expiration,
  },
  "expiry-waits-for-the-lock": {
    says: "a locked, scheduled or deferred message does not expire; it does when its lock ends, or when a receiver asks for it",
    source: `${expiration}; azure-sdk-for-net issue 30252`,
  },
  "no-expiry-while-forwarding": {
    says: "no message expires in an entity that forwards its messages",
    source: "azure-cli issue 8424",
  },
  "time-to-live-is-carried": {
    says: "a forwarded message keeps the time to live that applied before, and it runs again",
    source: "azure-sdk-for-net issue 6748",
  },

  // Forwarding
  "four-hops": {
    says: "a message that was forwarded four times is dead-lettered instead of a fifth forward, and stays there",
    source: `${forwarding}; azure-service-bus issues 33, 249`,
  },
  "dead-letter-hops": assumed("the forwarding of a dead letter counts as a hop, or does not"),
  "closed-destination-dead-letters": {
    says: "a message that cannot be forwarded, because its destination is full, disabled or deleted, becomes a dead letter",
    source: forwarding,
  },
  "sessions-are-not-forwarded": assumed(
    "an entity with sessions forwards nothing: its messages become dead letters",
    `${forwarding}, for the refusal; their fate is assumed`,
  ),
  "forwarded-into-sessions": {
    says: "a message with a session id is forwarded into a queue with sessions, and one without becomes a dead letter of the entity that forwards",
    source: "azure-sdk-for-net pull request 60600, samples/Sample21_AutoForwardIntoSession.md",
  },
  "session-wanted": {
    says: "a message without a session id becomes a dead letter in an entity with sessions",
    source: deadLetters,
  },

  // Sending
  "send-wants-its-entity": {
    says: "a message to a queue or topic that does not exist, or is disabled, is refused",
    source: page("Service Bus messaging exceptions"),
  },
  "too-large-is-refused": {
    says: "Service Bus refuses a message that is too large with its properties, also a scheduled one, and names that reason; a request to schedule it gets no answer",
    source: `${page("Service Bus quotas")}; azure-service-bus issues 697 and 740`,
  },
  "forwarding-entity-takes": {
    says: "a message sent to a queue that forwards goes on to the forwarding destination",
    source: forwarding,
  },
  "duplicates-are-dropped": {
    says: "with duplicate detection a message with a known id is accepted and dropped, with any content; a scheduled one too",
    source: `${page("Duplicate message detection")}; azure-service-bus issue 748`,
  },
  "forwarded-duplicates-are-dropped": assumed("duplicate detection also drops forwarded messages"),
  "scheduled-is-a-new-message": {
    says: "a scheduled message arrives at its time, not before, and its time to live counts from then",
    source: page("Message sequencing and timestamps"),
  },

  // Topics
  "topic-reaches-all": {
    says: "every subscription with a matching rule gets one copy of a message, even if several rules match",
    source: page("Topic filters and actions"),
  },
  "rules-compare": {
    says: "a correlation filter compares the subject exactly, with upper and lower case",
    source: page("Topic filters and actions"),
  },
  "sql-compares": {
    says: "= and LIKE compare the subject, % is any text and _ any character, with ESCAPE neither; no comparison matches a message without a subject",
    source: page("Subscription rule SQL filter syntax"),
  },
  "sql-compares-case": assumed("SQL distinguishes upper and lower case"),
} as const satisfies Readonly<Record<string, Rule>>;

export type ClaimName = keyof typeof claims;
