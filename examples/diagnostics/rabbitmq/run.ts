import type { ExamplePair, StartExample } from "../example.ts";

const start = (...lines: readonly string[]): StartExample => ({
  kind: "start",
  text: [...lines, ""].join("\n"),
  startedOn: "rabbitmq@4.3",
});

const deployed = "broker: { version: 4.3.6 }";
const quiet = start("consumer: billing", deployed);

/** Starts of a consumer, each with and without the mistake. */
export const runExamples = {
  RD801: {
    fires: start("consumer: biling", deployed),
    quiet,
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
    quiet,
  },
  RD805: {
    fires: start("consumer: billing", "broker: { version: 4.3.6, missing: [shop.billing.dead] }"),
    quiet,
  },
  RD806: {
    fires: start("consumer: billing", "broker: { version: 3.10.8 }"),
    quiet,
  },
  RD807: {
    fires: start("consumer: billing", "broker: refuses the user"),
    quiet,
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
  RD810: {
    fires: start("consumer: billing", "broker: { version: 4.3.6, unbound: [shop.billing.dead] }"),
    quiet,
  },
  RD821: { fires: start("consumer: billing", "broker: has given the queue to another alone"), quiet },
  RD822: { fires: start("consumer: billing", "broker: gives one channel"), quiet },
  RD823: { fires: start("consumer: billing", "broker: has no leader of the queue"), quiet },
} satisfies Readonly<Record<string, ExamplePair>>;
