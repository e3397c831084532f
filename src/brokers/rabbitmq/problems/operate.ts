import { type CatalogueEntry, error } from "../../../diagnostics/catalogue-entry.ts";

const docs = "https://www.rabbitmq.com/docs";

/** RD84x: dead letters that a look endangers. */
export const operateProblems = {
  RD841: error(
    "Looking would use up the letters",
    "RabbitMQ has no look without a delivery, and each look counts towards the delivery limit of a quorum queue. A letter above the limit is dropped, because a dead queue has no dead-letter exchange. So Redeliver looks only if no limit is in force: x-delivery-limit -1 from 4.0, and none up to 3.13. If it cannot learn the limit from the management API, it does not look. On SQS a look is a receive, and a dead queue with a RedrivePolicy of its own would move its letters after some of them.",
    `${docs}/quorum-queues#poison-message-handling`,
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
