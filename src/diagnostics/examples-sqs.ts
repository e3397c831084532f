import type { DeclarationExample, ExamplePair } from "./example.ts";
import { retryText, systemExample } from "./example-text.ts";

const exponential = retryText("kind: exponential, first: 1s, factor: 2, max: 10s");
/** A returned message costs an attempt on every queue of SQS. */
const anywhere = { target: "sqs@eu-west-1", also: ["RD607"] } as const;
const timeout = "handlerTimeout: 30s";

/** The consumer billing, and another one. */
function twoConsumers(other: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing: &retried",
    "    from: { orders: [order.placed] }",
    "    retry: { attempts: 5, backoff: { kind: constant, delay: 30s } }",
    `    ${timeout}`,
    `  ${other}: *retried`,
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, ...anywhere };
}

/** A consumer with a handler timeout and these lines. */
function withTimeout(retry: string, ...more: readonly string[]): DeclarationExample {
  return systemExample({ retry, more: [timeout, ...more] }, anywhere);
}

const constantRetry = retryText("kind: constant, delay: 30s");

/** RD6xx: what Amazon SQS, and SNS in front of it, cannot do, or do only at a price. */
export const sqsExamples = {
  RD601: {
    fires: { kind: "target", target: "sqs@eu-west-9" },
    quiet: { kind: "target", target: "sqs@eu-west-1" },
  },
  RD602: {
    fires: systemExample({ retry: exponential, more: [timeout] }, { target: "sqs@eu-west-1", strategy: "redrive" }),
    quiet: systemExample({ retry: exponential, more: [timeout] }, { ...anywhere, strategy: "visibility" }),
  },
  RD603: {
    fires: systemExample(
      { retry: exponential, more: [timeout, "crash: { deliveries: 3 }"] },
      { target: "sqs@eu-west-1" },
    ),
    quiet: withTimeout(exponential, "crash: { deliveries: 5 }"),
  },
  RD604: {
    fires: systemExample({ consumer: "billing.fifo", more: [timeout] }, anywhere),
    quiet: systemExample({ consumer: "billing", more: [timeout, "order: per-key"] }, anywhere),
  },
  RD605: { fires: twoConsumers("billing-dead"), quiet: twoConsumers("billing-refunds") },
  RD606: {
    fires: systemExample({ retry: "", more: ["delivery: every-instance"] }, { target: "sqs@eu-west-1" }),
    quiet: withTimeout(constantRetry, "delivery: work-queue"),
  },
  RD607: {
    fires: systemExample({ more: [timeout] }, { target: "sqs@eu-west-1" }),
    quiet: systemExample({ more: [timeout] }, { target: "rabbitmq@4.3" }),
  },
  RD608: {
    fires: systemExample({ from: "{ orders: [order.*] }", more: [timeout] }, { target: "sqs@eu-west-1" }),
    quiet: systemExample({ from: "{ orders: [order.#] }", more: [timeout] }, anywhere),
  },
  RD609: {
    fires: withTimeout(retryText("kind: constant, delay: 10h", 40)),
    quiet: withTimeout(retryText("kind: constant, delay: 10h", 5)),
  },
  RD610: {
    fires: withTimeout(constantRetry, "deadLetter: { retain: 14d }"),
    quiet: withTimeout(constantRetry, "deadLetter: { retain: 10d }"),
  },
  RD611: {
    fires: systemExample(
      { retry: "{ attempts: 1, backoff: { kind: immediate } }", more: [timeout] },
      { target: "sqs@eu-west-1" },
    ),
    quiet: withTimeout("{ attempts: 2, backoff: { kind: immediate } }"),
  },
  RD612: {
    fires: systemExample({ retry: exponential }, anywhere),
    quiet: withTimeout(exponential),
  },
  RD613: {
    fires: systemExample({ more: ["handlerTimeout: 13h"] }, { target: "sqs@eu-west-1" }),
    quiet: systemExample({ more: ["handlerTimeout: 11h"] }, anywhere),
  },
  RD614: {
    fires: withTimeout(retryText('kind: constant, delay: 1s, jitter: "20%"')),
    quiet: withTimeout(retryText('kind: constant, delay: 30s, jitter: "20%"')),
  },
  RD615: {
    fires: withTimeout(constantRetry, "deadLetter: { retain: 12d }"),
    quiet: withTimeout(constantRetry, "deadLetter: { retain: 10d }"),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
