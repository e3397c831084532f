import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { loadTarget } from "../../src/cli/load-target.ts";
import { type TargetInput, compile } from "../../src/index.ts";
import { checked, shopWith } from "../support/examples.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const one = { from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "constant", delay: "30s" } } };
const timed = { ...one, handlerTimeout: "10s" };
const system = checked(
  shopWith({ billing: timed, shipping: timed, cache: { from: { orders: "all" }, delivery: "every-instance" } }),
);
const portable = checked(shopWith({ billing: timed, shipping: timed }));

function chosen(target: TargetInput): readonly string[] {
  const result = compile(target.broker === "rabbitmq" ? system : portable, target);
  if (!result.ok)
    return result.diagnostics.map(({ code, path, message, help }) => `${code} ${path}: ${message}; ${help}`);
  return result.value.choices.map(({ consumer, strategy }) => `${consumer} ${strategy}`);
}

test.each([
  [
    { broker: "rabbitmq", version: "4.3", strategies: { billing: "waits" } },
    ["billing waits", "shipping native", "cache every-instance"],
  ],
  [
    { broker: "rabbitmq", version: "4.3", strategy: "staged", strategies: { billing: "auto" } },
    ["billing native", "shipping staged", "cache every-instance"],
  ],
  [
    { broker: "sqs", region: "eu-west-1", strategies: { billing: "visibility" } },
    ["billing visibility", "shipping redrive"],
  ],
  [
    { broker: "servicebus", sku: "standard", strategies: { billing: "ttl-tier" } },
    ["billing ttl-tier", "shipping scheduled"],
  ],
] as const satisfies [TargetInput, string[]][])("%o", (target, expected) => {
  expect(chosen(target)).toEqual(expected);
});

const rabbitmq = (strategies: unknown): TargetInput =>
  ({ broker: "rabbitmq", version: "4.0", strategies }) as unknown as TargetInput;

test.each([
  [
    { biling: "waits" },
    'RD221 target.strategies.biling: "biling" is no consumer with a work queue; did you mean billing?',
  ],
  [{ cache: "waits" }, 'RD221 target.strategies.cache: "cache" is no consumer with a work queue; remove it'],
  [{ billing: "wait" }, 'RD201 target.strategies.billing: "wait" is no strategy of RabbitMQ; did you mean waits?'],
  [
    { billing: "visibility" },
    'RD201 target.strategies.billing: "visibility" is no strategy of RabbitMQ; write one of auto, native, deferred, staged, waits',
  ],
  [
    "waits",
    "RD221 target.strategies: this is not a mapping of consumers to strategies; write it as a mapping, for example strategies: { billing: native }",
  ],
  [
    { billing: "native" },
    "RD202 consumers.billing: native on rabbitmq@4.0 cannot keep this: delayed retry in quorum queues needs RabbitMQ 4.3.1; use strategy staged or waits, which keeps it on this target, or use the target rabbitmq@4.3, which keeps it",
  ],
])("%o is refused once", (strategies, expected) => {
  expect(chosen(rabbitmq(strategies))).toEqual([expected]);
});

test("a consumer of the name __proto__ has no strategy by accident", () => {
  const strategies = JSON.parse('{ "__proto__": "waits" }') as unknown;
  expect(chosen(rabbitmq(strategies))[0]).toMatch(/^RD\d{3} target\.strategies/);
});

test("a strategy of the command line goes before those of a file", () => {
  const folder = temporaryFolder("strategies", onTestFinished);
  const file = join(folder, "target.yaml");
  writeFileSync(file, '{ broker: rabbitmq, version: "4.3", strategies: { billing: waits } }');
  const read = loadTarget(file, "auto");
  expect(read).toMatchObject({ ok: true, value: { strategy: "auto", strategies: { billing: "waits" } } });
  const overruled = loadTarget(file, "staged");
  expect(overruled.ok && overruled.value.strategies).toBeUndefined();
  expect(overruled).toMatchObject({ ok: true, value: { strategy: "staged" } });
});
