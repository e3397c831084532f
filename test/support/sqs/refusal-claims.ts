import { type Claim, acceptedByBoth, accepts, api, recorded } from "./claim.ts";

/** The requests that AWS refuses. */
export const refusalClaims = {
  "attempts-zero": {
    says: "maxReceiveCount 0 is refused",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: { moto: accepts },
  },
  "attempts-1001": {
    says: "maxReceiveCount 1001 is refused",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: { moto: accepts },
  },
  "attempts-missing": {
    says: "a redrive policy without maxReceiveCount is refused",
    aws: "refused",
    source: recorded("test_redrive_policy_attribute_validity"),
  },
  "dead-letter-queue-missing": {
    says: "a redrive policy to a queue that does not exist is refused",
    aws: "refused",
    source: api("SetQueueAttributes"),
  },
  "dead-letter-queue-elsewhere": {
    says: "a redrive policy to a queue of another region is refused",
    aws: "refused",
    source: "older guides; the present one recommends it: Dead-letter target owner should be same as the source",
    gaps: { elasticmq: { observed: "accepted", does: "looks at the name alone" } },
  },
  "fifo-to-standard": {
    says: "a FIFO queue cannot have a standard dead-letter queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: { elasticmq: accepts },
  },
  "standard-to-fifo": {
    says: "a standard queue cannot have a FIFO dead-letter queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "allow-policy-deny-all": {
    says: "denyAll keeps every queue from naming this one as its dead-letter queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "allow-policy-by-queue": {
    says: "byQueue keeps all queues but those it lists from naming this one as their dead-letter queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "allow-policy-11-sources": {
    says: "byQueue lists at most 10 queues",
    aws: "refused",
    source: `${api("SetQueueAttributes")}, which does not say how AWS answers`,
    gaps: acceptedByBoth,
  },
  "queue-visibility-43201": {
    says: "a visibility timeout above 43200 s is refused for a queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "queue-delay-901": {
    says: "a delay above 900 s is refused for a queue",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "message-delay-901": {
    says: "a delay above 900 s is refused for a message",
    aws: "refused",
    source: api("SendMessage"),
  },
  "retention-59": {
    says: "a retention below 60 s is refused",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "retention-15-days": {
    says: "a retention above 14 days is refused",
    aws: "refused",
    source: api("SetQueueAttributes"),
    gaps: acceptedByBoth,
  },
  "name-81": { says: "a name of 81 characters is refused", aws: "refused", source: api("CreateQueue") },
  "fifo-name": {
    says: "a FIFO queue whose name does not end in .fifo is refused",
    aws: "refused",
    source: recorded("test_fifo_queue_requires_suffix"),
  },
  "message-size": {
    says: "a message of 1 MiB is accepted, one byte more is refused",
    aws: ["accepted", "refused"],
    source: api("SendMessage"),
  },
  "recreate-at-once": {
    says: "a queue's name is free again only 60 s after its deletion",
    aws: "refused",
    source: api("CreateQueue"),
    gaps: acceptedByBoth,
  },
} as const satisfies Readonly<Record<string, Claim>>;
