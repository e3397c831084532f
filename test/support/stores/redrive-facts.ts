import type { RedriveFacts } from "../../../src/operate/journal.ts";

/** A redrive without a broker. */
export const redriveFacts: RedriveFacts = {
  id: "0",
  broker: "rabbitmq",
  queue: "shop.billing.dead",
  place: {
    file: undefined,
    target: undefined,
    consumer: undefined,
    queue: "shop.billing.dead",
    url: "amqp://ops@127.0.0.1:1",
    managementUrl: "http://ops@127.0.0.1:1",
    ca: undefined,
    cert: undefined,
    key: undefined,
    strategy: "auto",
  },
  key: "rabbitmq 127.0.0.1:1 shop.billing.dead",
  filter: { reason: "EVEN" },
  who: "ops@host",
  why: null,
  at: "2026-03-01T08:00:00.000Z",
  frozen: 3,
  letters: 3,
  targets: ["shop.billing"],
  generations: 3,
  perSecond: null,
  waitMs: 0,
  stopAbove: 0.1,
};
