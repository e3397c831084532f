import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error } from "./catalogue-entry.ts";

/** RD82x: why a consumer of RabbitMQ does not begin. */
export const consumeRabbitmqCatalogue = {
  RD821: error(
    "Another connection has the queue alone",
    "A queue that was declared exclusive belongs to one connection, and a consumer of a classic queue may ask to be the only one; nobody else is let in as long as it lasts. The quorum queues that are compiled know neither, so the queue of this name is another one, or was made by hand. A single active consumer is something else: there others may wait for their turn, and are let in.",
    "consumers#exclusivity",
  ),
  RD822: error(
    "A limit of the broker",
    "A consumer takes one channel for its deliveries, and where its contract publishes copies one more for these. Both are opened before the first message: a user who may open no more loses the whole connection by trying, and each message whose copy needs the channel would be handled again and again. A consumer whose every instance has a queue of its own takes one queue more. Raise the limit of the user or of the virtual host, or channelMax in the URL.",
    "user-limits",
  ),
  RD823: error(
    "The work queue does not answer",
    "The broker knows the queue, and the queue has said nothing. That is what a quorum queue does while it has no leader: more than half of its members are away, or have just been started. A consumer that starts says so and ends. One that was taking messages before tries again by itself, with growing pauses.",
    "quorum-queues#quorum-requirements",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
