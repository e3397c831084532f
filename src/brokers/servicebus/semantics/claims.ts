/** One rule of the semantics, and how far it is known. */
export interface Claim {
  /** What Service Bus does, in a sentence. */
  readonly says: string;
  /** A page of Microsoft's, a thread where its maintainers answer, or a test of its SDK. */
  readonly source: string;
  /** True where no source settles it: all of the possibilities are taken, or the worse of them. */
  readonly assumed?: true;
}

const page = (title: string): string => `Service Bus documentation, ${JSON.stringify(title)}`;
const deadLetters = page("Overview of Service Bus dead-letter queues");
const expiration = page("Message expiration (Time to Live)");
const forwarding = page("Chaining Service Bus entities with autoforwarding");
const settlement = page("Message transfers, locks, and settlement");
const sessions = page("Message sessions");
const sdk = (test: string): string => `tests of @azure/service-bus: ${test}`;

/** All that the semantics relies on. None of it was tried on the service itself: what is documented is followed, the rest is assumed. */
export const claims = {
  // Deliveries and locks
  "count-on-abandon": {
    says: "an abandoned message is there again at once, and its delivery count is one higher",
    source: settlement,
  },
  "release-is-not-counted": {
    says: "a message that is released is there again at once, and its delivery count is as before, or one higher",
    source:
      "Azure/amqpnetlite issue 342, in which a user sees it counted and a maintainer of Service Bus says that it is not; azure-sdk-for-python pull request 47999, which relies on the maintainer; that it may be counted is assumed",
    assumed: true,
  },
  "count-on-lock-expiry": {
    says: "a message whose lock runs out, or that of its session, is there again, and its delivery count is one higher",
    source: `${settlement}; ${sessions}`,
  },
  "dead-after-max-delivery-count": {
    says: "the failure that makes the delivery count as high as the max delivery count dead-letters the message",
    source: `${deadLetters}; ${sdk("ten abandons, seen with counts 0 to 9, then in the dead-letter queue")}`,
  },
  "session-close-is-not-counted": {
    says: "a session that is given back leaves its unsettled messages there, and counts nothing",
    source: sessions,
  },
  "session-outlives-its-connection": {
    says: "a session that its receiver could not give back, since its connection or its process is gone, is nobody's until its lock runs out, and that counts",
    source: `${sessions}; azure-docs issue 41048`,
  },
  "late-settlement-is-refused": {
    says: "who settles or renews after the lock ran out is told so, and changes nothing",
    source: settlement,
  },
  "defer-counts": {
    says: "a deferred message keeps its place and is delivered only by its sequence number; deferring it counts as a delivery",
    source: sdk("the delivery count is 1 after a defer"),
  },
  "defer-at-the-limit": {
    says: "the defer that reaches the max delivery count dead-letters the message, or defers it",
    source: "no source",
    assumed: true,
  },
  "receive-and-delete-forgets": {
    says: "in the mode receive-and-delete the message is gone when it is sent to the receiver",
    source: settlement,
  },

  // Dead letters
  "dead-letters-stay": {
    says: "a dead-letter queue observes no time to live, counts no deliveries, and nothing is dead-lettered out of it",
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
  "count-after-dead-letter-forwarding": {
    says: "a dead letter that is forwarded has a delivery count of 0 there, or keeps its own",
    source: "no source",
    assumed: true,
  },

  // Time to live
  "shorter-time-to-live-counts": {
    says: "the shorter of the message's and the entity's time to live counts",
    source: expiration,
  },
  "expiry-dead-letters": {
    says: "with dead-lettering on expiry a message whose time is over becomes a dead letter, without it is dropped",
    source: expiration,
  },
  "expiry-is-lazy": {
    says: "a message whose time is over is dead-lettered at any time after that, and is delivered no more",
    source: expiration,
  },
  "expiry-waits-for-the-lock": {
    says: "a message that is locked, scheduled or deferred does not expire; when its lock ends, or it is asked for, it does",
    source: `${expiration}; azure-sdk-for-net issue 30252`,
  },
  "no-expiry-while-forwarding": {
    says: "an entity that forwards lets no message expire",
    source: "azure-cli issue 8424",
  },
  "time-to-live-is-carried": {
    says: "a forwarded message carries the time to live that counted before, and it runs again",
    source: "azure-sdk-for-net issue 6748",
  },

  // Forwarding
  "four-hops": {
    says: "a message that was forwarded four times is dead-lettered where it would be forwarded a fifth time, and stays there",
    source: `${forwarding}; azure-service-bus issues 33, 249`,
  },
  "dead-letter-hops": {
    says: "the forwarding of a dead letter counts as a hop, or does not",
    source: "no source",
    assumed: true,
  },
  "closed-destination-dead-letters": {
    says: "a message that cannot be forwarded, since its destination is full, disabled or gone, becomes a dead letter",
    source: forwarding,
  },
  "sessions-are-not-forwarded": {
    says: "messages in sessions are not forwarded: neither out of such an entity nor into one, where they become dead letters",
    source: `${forwarding}, for forwarding out; into one is assumed`,
    assumed: true,
  },
  "session-wanted": {
    says: "a message without a session id becomes a dead letter in an entity with sessions",
    source: deadLetters,
  },

  // Sending
  "send-wants-its-entity": {
    says: "a message to a queue or topic that is not there, or takes nothing, is refused",
    source: page("Service Bus messaging exceptions"),
  },
  "forwarding-entity-takes": {
    says: "what is sent to a queue that forwards goes on to where it forwards",
    source: forwarding,
  },
  "duplicates-are-dropped": {
    says: "with duplicate detection a message with a known id is accepted and dropped, whatever else is in it; a scheduled one too",
    source: `${page("Duplicate message detection")}; azure-service-bus issue 748`,
  },
  "forwarded-duplicates-are-dropped": {
    says: "duplicate detection drops what is forwarded as well",
    source: "no source",
    assumed: true,
  },
  "scheduled-is-a-new-message": {
    says: "a scheduled message is there when its time has come, not before, and its time to live counts from then on",
    source: page("Message sequencing and timestamps"),
  },

  // Topics
  "topic-reaches-all": {
    says: "every subscription with a rule that lets a message in gets one copy of it, however many of its rules do",
    source: page("Topic filters and actions"),
  },
  "rules-compare": {
    says: "a correlation filter compares the subject letter by letter, upper and lower case told apart",
    source: page("Topic filters and actions"),
  },
  "sql-compares": {
    says: "= and LIKE compare the subject, % is any text and _ any character, with ESCAPE neither; what is compared with no subject is no match",
    source: page("Subscription rule SQL filter syntax"),
  },
  "sql-compares-case": {
    says: "SQL tells upper and lower case apart",
    source: "no source",
    assumed: true,
  },
} as const satisfies Readonly<Record<string, Claim>>;

export type ClaimName = keyof typeof claims;
