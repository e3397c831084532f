import type { ExamplePair } from "./example.ts";

const start = (...lines: readonly string[]): ExamplePair["fires"] => ({
  kind: "start",
  text: [...lines, ""].join("\n"),
});

const deployed = "broker: { version: 4.3.6 }";

/** Starts of a consumer, each with and without what is wrong. */
export const consumeExamples = {
  RD801: {
    fires: start("consumer: biling", deployed),
    quiet: start("consumer: billing", deployed),
  },
  RD802: {
    fires: start("consumer: billing", "options: { concurency: 20, stopWithin: 30 }", deployed),
    quiet: start("consumer: billing", "options: { concurrency: 20, stopWithin: 30s }", deployed),
  },
  RD803: {
    fires: start("consumer: billing", "amqplib: not installed", deployed),
    quiet: start("consumer: billing", "amqplib: installed", deployed),
  },
  RD804: {
    fires: start("consumer: billing", "broker: nothing answers"),
    quiet: start("consumer: billing", deployed),
  },
  RD805: {
    fires: start("consumer: billing", "broker: { version: 4.3.6, missing: [shop.billing.dead] }"),
    quiet: start("consumer: billing", deployed),
  },
  RD806: {
    fires: start("consumer: billing", "broker: { version: 3.10.8 }"),
    quiet: start("consumer: billing", deployed),
  },
  RD807: {
    fires: start("consumer: billing", "broker: refuses the user"),
    quiet: start("consumer: billing", deployed),
  },
  RD808: {
    fires: start(
      "consumer: billing",
      "broker:",
      "  version: 4.3.6",
      "  policies: { shop.billing: { delivery-limit: 20 } }",
    ),
    quiet: start(
      "consumer: billing",
      "broker:",
      "  version: 4.3.6",
      "  policies: { shop.billing: { delivery-limit: 2 } }",
    ),
  },
  RD809: {
    fires: start(
      "declaration: portable.yaml",
      "consumer: billing",
      "options:",
      "  target: { broker: sqs, region: eu-west-1, lambda: { billing: { function: bill, timeout: 30s } } }",
      "broker: nothing answers",
    ),
    quiet: start("consumer: billing", deployed),
  },
  RD810: {
    fires: start("consumer: billing", "broker: { version: 4.3.6, unbound: [shop.billing.dead] }"),
    quiet: start("consumer: billing", deployed),
  },
} satisfies Readonly<Record<string, ExamplePair>>;
