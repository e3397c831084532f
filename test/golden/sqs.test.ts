import { expect, test } from "vitest";

import { brokers, compile, renderDiagnostics } from "../../src/index.ts";
import { checked } from "../support/examples.ts";

// What is compiled for SQS, or why it is refused, for each strategy. A change of these files is read in review: it is what changes in
// our users' accounts.

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
  (["auto", "redrive", "visibility"] as const).map((strategy) => ({ name: name as keyof typeof consumers, strategy })),
);

test.for(cases)("$name, strategy $strategy", async ({ name, strategy }) => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" }, payments: { kind: "fanout" } },
    consumers: { billing: consumers[name] },
  });
  const result = compile(system, { broker: "sqs", region: "eu-west-1", strategy });
  const text = result.ok
    ? `${JSON.stringify({ ...result.value, warnings: result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`) }, null, 2)}\n`
    : `NOT SUPPORTED\n\n${renderDiagnostics(result.diagnostics)}\n`;
  await expect(text).toMatchFileSnapshot(`sqs/${name.replaceAll(" ", "-")}-${strategy}.${result.ok ? "json" : "txt"}`);
});

test("aws-json is a CloudFormation template", async () => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: consumers.exponential,
      shipping: { ...consumers["per key"], from: { orders: ["order.placed"] } },
    },
  });
  const result = compile(system, { broker: "sqs", region: "eu-west-1" });
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  const template = brokers.sqs.exportFormats["aws-json"]?.(result.value, null);
  await expect(`${JSON.stringify(template, null, 2)}\n`).toMatchFileSnapshot("sqs/cloudformation.json");
});

test("with a function of Lambda, a key, tags and a dead queue that is emptied", async () => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { ...consumers.exponential, retry: { ...consumers.exponential.retry, attempts: 5 } } },
  });
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
  const warnings = result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  const text = `${JSON.stringify({ ...result.value, warnings }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("sqs/lambda.json");
  const template = brokers.sqs.exportFormats["aws-json"]?.(result.value, null);
  await expect(`${JSON.stringify(template, null, 2)}\n`).toMatchFileSnapshot("sqs/lambda-cloudformation.json");
});
