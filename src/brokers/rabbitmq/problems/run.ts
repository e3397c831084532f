import { type CatalogueEntry, error } from "../../../diagnostics/catalogue-entry.ts";

const docs = "https://www.rabbitmq.com/docs";

/** RD82x: reasons why a consumer of RabbitMQ does not start. */
export const runProblems = {
  RD821: error(
    "Another connection uses the queue alone",
    "An exclusive queue belongs to one connection, and a consumer of a classic queue may ask to be the only one. The broker then refuses all others. The compiled quorum queues have neither, so this queue was made elsewhere or by hand. A single active consumer is different: others may wait there for their turn.",
    `${docs}/consumers#exclusivity`,
  ),
  RD822: error(
    "A limit of the broker is reached",
    "A consumer opens one channel for its deliveries, and another one if its contract publishes copies. It opens both before the first message. Beyond the limit the broker would close the whole connection, and the consumer would handle each message again and again. A consumer with a queue for every instance needs one more queue. Raise the limit of the user or of the virtual host, or channelMax in the URL.",
    `${docs}/user-limits`,
  ),
  RD823: error(
    "The work queue does not answer",
    "The broker knows the queue, but the queue does not answer. A quorum queue does that while it has no leader: more than half of its members are away, or have just started. A consumer that starts reports this and ends. A consumer that ran before tries again by itself, with growing pauses.",
    `${docs}/quorum-queues#quorum-requirements`,
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
