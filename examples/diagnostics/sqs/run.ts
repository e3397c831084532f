import type { ExamplePair, StartExample } from "../example.ts";

const start = (...lines: readonly string[]): StartExample => ({
  kind: "start",
  text: [...lines, ""].join("\n"),
  startedOn: "rabbitmq@4.3",
});

/** Starts of a consumer of SQS, each with and without the mistake. */
export const runExamples = {
  RD809: {
    fires: start(
      "declaration: portable.yaml",
      "consumer: billing",
      "options:",
      "  target: { broker: sqs, region: eu-west-1, lambda: { billing: { function: bill, timeout: 30s } } }",
      "broker: nothing answers",
    ),
    quiet: start("consumer: billing", "broker: { version: 4.3.6 }"),
  },
} satisfies Readonly<Record<string, ExamplePair>>;
