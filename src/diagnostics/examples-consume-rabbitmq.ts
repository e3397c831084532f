import type { ExamplePair } from "./example.ts";

const start = (broker: string): ExamplePair["fires"] => ({
  kind: "start",
  text: `consumer: billing\nbroker: ${broker}\n`,
});

const quiet = start("{ version: 4.3.6 }");

/** Starts of a consumer of RabbitMQ, each with and without what is wrong. */
export const consumeRabbitmqExamples = {
  RD821: { fires: start("has given the queue to another alone"), quiet },
  RD822: { fires: start("gives one channel"), quiet },
  RD823: { fires: start("has no leader of the queue"), quiet },
} satisfies Readonly<Record<string, ExamplePair>>;
