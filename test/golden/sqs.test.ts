import { test } from "vitest";

import { brokers, compile, renderDiagnostics } from "../../src/index.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { expectCompiled, expectGolden, expectStrategy } from "../support/golden.ts";

// The compiler's output or refusal for SQS, for each strategy. Review every change of these files: it changes our
// users' accounts.

const common = { from: { orders: ["order.placed", "order.#"] }, errors: { permanent: ["ValidationError"] } };
const exponential = { kind: "exponential", first: "1s", factor: 2, max: "10s" };
const constant = { kind: "constant", delay: "30s" };
const timed = { handlerTimeout: "10s" };

const consumers = {
  "constant delay": { ...common, ...timed, retry: { attempts: 4, backoff: constant } },
  "at once": { ...common, retry: { attempts: 3, backoff: { kind: "immediate" } } },
  exponential: {
    ...common,
    ...timed,
    retry: { attempts: 4, backoff: { ...exponential, jitter: "50%" }, retryAfter: { max: "1m" } },
    deadLetter: { retain: "7d", alarmAbove: 10 },
  },
  "per key": { ...common, ...timed, order: "per-key", retry: { attempts: 4, backoff: constant } },
  "one attempt": { ...common, ...timed, retry: { attempts: 1, backoff: { kind: "immediate" } } },
} as const;

const cases = Object.keys(consumers).flatMap((name) =>
  (["auto", "redrive", "visibility"] as const).map((strategy) => ({ name: name as Name, strategy })),
);

type Name = keyof typeof consumers;

function outcome({ name, strategy }: (typeof cases)[number]): ReturnType<typeof compile> {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" }, payments: { kind: "fanout" } },
    consumers: { billing: consumers[name] },
  });
  return compile(system, { broker: "sqs", region: "eu-west-1", strategy });
}

test.for(cases)("$name, strategy $strategy", async (each) => {
  await expectStrategy("sqs", each, cases, outcome);
});

function template(): unknown {
  const shipping = { ...consumers["per key"], from: { orders: ["order.placed"] } };
  const system = checked(shopWith({ billing: consumers.exponential, shipping }));
  const result = accepted(compile(system, { broker: "sqs", region: "eu-west-1" }));
  return brokers.sqs.exportFormats["aws-json"]?.(result, null);
}

test("aws-json is a CloudFormation template", async () => {
  await expectGolden("sqs/cloudformation.json", template());
});

test("with a Lambda function, a key, tags and a dead queue that a program empties", async () => {
  const retry = { ...consumers.exponential.retry, attempts: 5 };
  const system = checked(shopWith({ billing: { ...consumers.exponential, retry } }));
  const result = compile(system, {
    broker: "sqs",
    region: "eu-west-1",
    account: "123456789012",
    kmsKey: "alias/shop",
    tags: { team: "payments" },
    emptiedDeadQueues: ["billing"],
    lambda: { billing: { function: "billing", timeout: "1m", batchSize: 20, batchWindow: "2s", maximumConcurrency: 5 } },
  });
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  await expectCompiled("sqs/lambda", result, { file: "exponential-auto", result: outcome({ name: "exponential", strategy: "auto" }) });
  const own = brokers.sqs.exportFormats["aws-json"]?.(result.value, null);
  await expectGolden("sqs/lambda-cloudformation", own, { file: "cloudformation.json", value: template() });
});
