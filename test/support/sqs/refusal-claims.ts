import { type Claim, acceptedByBoth, accepts, api, recorded } from "./claim.ts";

function refused(says: string, source: string, gaps: Claim["gaps"] = {}): Claim {
  return { says, aws: "refused", source, gaps };
}

const attributes = api("SetQueueAttributes");

/** The requests that AWS refuses. */
export const refusalClaims = {
  "attempts-zero": refused("maxReceiveCount 0 is refused", attributes, { moto: accepts }),
  "attempts-1001": refused("maxReceiveCount 1001 is refused", attributes, { moto: accepts }),
  "attempts-missing": refused(
    "a redrive policy without maxReceiveCount is refused",
    recorded("test_redrive_policy_attribute_validity"),
  ),
  "dead-letter-queue-missing": refused("a redrive policy to a queue that does not exist is refused", attributes),
  "dead-letter-queue-elsewhere": refused(
    "a redrive policy to a queue of another region is refused",
    "older guides; the present one recommends it: Dead-letter target owner should be same as the source",
    { elasticmq: { observed: "accepted", does: "looks at the name alone" } },
  ),
  "fifo-to-standard": refused("a FIFO queue cannot have a standard dead-letter queue", attributes, {
    elasticmq: accepts,
  }),
  "standard-to-fifo": refused("a standard queue cannot have a FIFO dead-letter queue", attributes, acceptedByBoth),
  "allow-policy-deny-all": refused(
    "denyAll keeps every queue from naming this one as its dead-letter queue",
    attributes,
    acceptedByBoth,
  ),
  "allow-policy-by-queue": refused(
    "byQueue keeps all queues but those it lists from naming this one as their dead-letter queue",
    attributes,
    acceptedByBoth,
  ),
  "allow-policy-11-sources": {
    says: "byQueue lists at most 10 queues",
    aws: "refused",
    source: `${attributes}, which does not say how AWS answers`,
    gaps: acceptedByBoth,
  },
  "queue-visibility-43201": refused(
    "a visibility timeout above 43200 s is refused for a queue",
    attributes,
    acceptedByBoth,
  ),
  "queue-delay-901": refused("a delay above 900 s is refused for a queue", attributes, acceptedByBoth),
  "message-delay-901": refused("a delay above 900 s is refused for a message", api("SendMessage")),
  "retention-59": refused("a retention below 60 s is refused", attributes, acceptedByBoth),
  "retention-15-days": refused("a retention above 14 days is refused", attributes, acceptedByBoth),
  "name-81": refused("a name of 81 characters is refused", api("CreateQueue")),
  "fifo-name": refused(
    "a FIFO queue whose name does not end in .fifo is refused",
    recorded("test_fifo_queue_requires_suffix"),
  ),
  "message-size": {
    says: "a message of 1 MiB is accepted, one byte more is refused",
    aws: ["accepted", "refused"],
    source: api("SendMessage"),
  },
  "recreate-at-once": refused(
    "a queue's name is free again only 60 s after its deletion",
    api("CreateQueue"),
    acceptedByBoth,
  ),
} as const satisfies Readonly<Record<string, Claim>>;
