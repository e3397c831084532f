import fc from "fast-check";
import { expect, test } from "vitest";

import { brokerOf, checkSystem, compile, type SystemInput, type TargetInput } from "../../src/index.ts";
import { compareChange } from "../../src/migrate/compare-change.ts";
import { type Deployed, readDeployed } from "../../src/migrate/deployed.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";

const cases: readonly (readonly [
  broker: string,
  system: fc.Arbitrary<SystemInput>,
  target: fc.Arbitrary<TargetInput>,
])[] = [
  ["RabbitMQ", anySystem, anyTarget],
  ["Amazon SQS", anySqsDeclaration, anySqsTarget],
  ["Service Bus", anyServicebusDeclaration, anyServicebusTarget],
];

const renamedKey = (key: string): string => `now-${key}`;

/** The system and each consumer have another name. */
function withNewNames(system: SystemInput): SystemInput {
  const consumers = Object.entries(system.consumers).map(([key, each]) => [
    renamedKey(key),
    { formerly: key, ...each },
  ]);
  return {
    formerly: system.name,
    ...system,
    name: renamedKey(system.name),
    consumers: Object.fromEntries(consumers) as SystemInput["consumers"],
  };
}

/** The topology under the old names of its consumers. */
function underOldNames({ compiled }: Deployed): unknown {
  return JSON.parse(JSON.stringify(compiled.topology), (key, value: unknown) =>
    key === "consumer" && typeof value === "string" ? value.replace(/^now-/, "") : value,
  );
}

test.for(cases)(
  "a renamed system with renamed consumers keeps everything on %s, and no message notices",
  ([, anySystemOf, anyTargetOf]) => {
    fc.assert(
      fc.property(anySystemOf, anyTargetOf, (input, target) => {
        const from = readDeployed(input, target);
        fc.pre(from !== null);
        const now = brokerOf(from.target).targetUnder(from.target, renamedKey);
        const to = readDeployed(withNewNames(input), now);
        if (to === null) throw new Error("the renamed system does not compile");
        expect(underOldNames(to)).toEqual(JSON.parse(JSON.stringify(from.compiled.topology)));
        const kept = { inputs: { declaration: from.system, target: from.target }, outputs: {} };
        expect(compareChange(kept, to)).toMatchObject({ problems: [], warnings: [], left: [] });
      }),
      { numRuns: 20, maxSkipsPerRun: 1_000 },
    );
  },
);

const billing = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "10s",
} as const;
const shop = { name: "shop", sources: { orders: { kind: "topic" } } } as const;
const target: TargetInput = { broker: "rabbitmq", version: "4.3", strategy: "staged" };

function deployed(consumers: object, on: TargetInput = target): Deployed {
  const found = readDeployed({ ...shop, consumers } as SystemInput, on);
  if (found === null) throw new Error("it does not compile");
  return found;
}

const changed = (from: Deployed, to: Deployed) =>
  compareChange({ inputs: { declaration: from.system, target: from.target }, outputs: {} }, to);

test("a renamed consumer can change like any other, and is refused like any other", () => {
  const from = deployed({ billing });
  const fewer = { ...billing, formerly: "billing", retry: { ...billing.retry, attempts: 2 } };
  expect(changed(from, deployed({ invoices: fewer }))).toMatchObject({ problems: [], warnings: [] });
  const native = deployed({ invoices: { ...billing, formerly: "billing" } }, { ...target, strategy: "native" });
  expect(changed(from, native)?.problems.map(({ code, path }) => [code, path])).toEqual([
    ["RD302", "consumers.invoices"],
  ]);
});

test("renamed twice, it keeps the first name; and without its former name it leaves its queues behind", () => {
  const once = deployed({ invoices: { ...billing, formerly: "billing" } });
  const again = deployed({ receipts: { ...billing, formerly: "billing" } });
  expect(changed(once, again)).toMatchObject({ problems: [], left: [] });
  expect(changed(again, deployed({ billing }))).toMatchObject({ problems: [], left: [] });
  expect(changed(once, deployed({ receipts: billing }))?.left.map(({ name }) => name)).toContain("shop.billing");
});

test("a renamed system can change like any other, and without its former name it leaves its queues behind", () => {
  const from = deployed({ billing });
  const named = (own: object): Deployed => {
    const found = readDeployed({ ...shop, ...own, consumers: { billing } } as SystemInput, target);
    if (found === null) throw new Error("it does not compile");
    return found;
  };
  expect(changed(from, named({ name: "store", formerly: "shop" }))).toMatchObject({ problems: [], left: [] });
  expect(changed(from, named({ name: "store" }))?.left.map(({ name }) => name)).toContain("shop.billing");
  const other = { name: "store", formerly: "shop", sources: { orders: { kind: "direct" } } };
  const direct = { ...billing, from: { orders: ["order.placed"] } };
  const to = readDeployed({ ...other, consumers: { billing: direct } } as SystemInput, target);
  expect(to === null ? [] : changed(from, to)?.problems.map(({ code }) => code)).toEqual(["RD302"]);
});

test("two consumers with one former name clash", () => {
  const both = checkSystem({ ...shop, consumers: { billing, invoices: { ...billing, formerly: "billing" } } });
  if (!both.ok) throw new Error("it is refused too early");
  for (const on of [
    target,
    { broker: "sqs", region: "eu-west-1" },
    { broker: "servicebus", sku: "standard" },
  ] as const) {
    const compiled = compile(both.value, on);
    expect(compiled.ok ? [] : compiled.diagnostics.map(({ code }) => code)).toContain("RD205");
  }
});
