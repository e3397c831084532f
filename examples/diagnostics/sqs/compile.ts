import type { DeclarationExample, ExamplePair } from "../example.ts";
import { retryText, systemExample } from "../example-text.ts";

/** A returned message costs an attempt on every queue of SQS. */
const anywhere = { target: "sqs@eu-west-1", also: ["RD207"] } as const;
const timeout = "handlerTimeout: 30s";

/** A consumer with a handler timeout and these lines. */
function withTimeout(retry: string, ...more: readonly string[]): DeclarationExample {
  return systemExample({ retry, more: [timeout, ...more] }, anywhere);
}

const constantRetry = retryText("kind: constant, delay: 30s");

/** RD2xx and RD6xx: declarations that Amazon SQS and SNS cannot keep, or keep only at a price. */
export const compileExamples = {
  RD215: {
    fires: systemExample({ retry: "", more: ["delivery: every-instance"] }, { target: "sqs@eu-west-1" }),
    quiet: withTimeout(constantRetry, "delivery: work-queue"),
  },
  RD216: {
    fires: systemExample({ from: "{ orders: [order.*] }", more: [timeout] }, { target: "sqs@eu-west-1" }),
    quiet: systemExample({ from: "{ orders: [order.#] }", more: [timeout] }, anywhere),
  },
  RD222: {
    fires: systemExample({ source: "topic, owner: other", more: [timeout] }, { ...anywhere, also: ["RD207"] }),
    quiet: systemExample({ more: [timeout] }, anywhere),
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
  RD614: {
    fires: withTimeout(retryText('kind: constant, delay: 1s, jitter: "20%"')),
    quiet: withTimeout(retryText('kind: constant, delay: 30s, jitter: "20%"')),
  },
  RD615: {
    fires: withTimeout(constantRetry, "deadLetter: { retain: 12d }"),
    quiet: withTimeout(constantRetry, "deadLetter: { retain: 10d }"),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
