import { compile, type TargetInput } from "../../src/index.ts";
import type { Contract } from "../../src/report/operations.ts";
import { accepted, checked, oneConsumer } from "./examples.ts";

const steps = { kind: "steps", delays: ["1s", "10s"] };
const common = { handlerTimeout: "30s", errors: { permanent: ["ValidationError"] } };
const rabbitmq = (strategy: "native" | "staged" | "waits" | "deferred"): TargetInput => ({
  broker: "rabbitmq",
  version: "4.3",
  strategy,
});
const sqs = { broker: "sqs", region: "eu-west-1" } as const;

const declared: readonly (readonly [string, Record<string, unknown>, TargetInput])[] = [
  ["rabbitmq-staged", { ...common, retry: { attempts: 3, backoff: steps } }, rabbitmq("staged")],
  [
    "rabbitmq-waits",
    {
      ...common,
      retry: { attempts: 3, backoff: { kind: "constant", delay: "1s", jitter: "50%" }, retryAfter: { max: "3s" } },
    },
    rabbitmq("waits"),
  ],
  [
    "rabbitmq-deferred",
    { ...common, protocol: "amqp-1.0", retry: { attempts: 3, backoff: steps } },
    rabbitmq("deferred"),
  ],
  [
    "rabbitmq-native",
    { errors: common.errors, retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } } },
    rabbitmq("native"),
  ],
  ["sqs-visibility", { ...common, retry: { attempts: 3, backoff: steps, retryAfter: { max: "1m" } } }, sqs],
  [
    "sqs-fifo",
    { ...common, order: "per-key", retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } } },
    sqs,
  ],
  [
    "servicebus-scheduled",
    { ...common, retry: { attempts: 3, backoff: steps } },
    { broker: "servicebus", sku: "standard", strategy: "scheduled" },
  ],
  [
    "servicebus-in-order",
    { ...common, order: "per-key", retry: { attempts: 3, backoff: { kind: "immediate" } } },
    { broker: "servicebus", sku: "standard" },
  ],
  [
    "sqs-lambda",
    { ...common, retry: { attempts: 3, backoff: steps } },
    { ...sqs, lambda: { billing: { function: "billing", timeout: "30s" } } },
  ],
];

/** A contract for each kind of page that there is. */
export const pageCases: readonly (readonly [name: string, contract: Contract])[] = declared.map(
  ([name, consumer, target]) => {
    const [contract] = accepted(compile(checked(oneConsumer(consumer)), target)).contracts;
    if (contract === undefined) throw new Error("no contract");
    return [name, contract];
  },
);
