import { expect, test } from "vitest";

import { compile, renderDiagnostics } from "../../src/index.ts";
import { checked } from "../support/examples.ts";

// What is compiled for Service Bus, or why it is refused, for each strategy. A change of these files is read in review: it is what changes
// in our users' namespaces.

const common = { from: { orders: ["order.placed", "order.#"] }, errors: { permanent: ["ValidationError"] } };
const timed = { handlerTimeout: "10s" };

const consumers = {
  "at once": { ...common, ...timed, retry: { attempts: 3, backoff: { kind: "immediate" } } },
  "constant delay": { ...common, ...timed, retry: { attempts: 3, backoff: { kind: "constant", delay: "30s" } } },
  exponential: {
    ...common,
    ...timed,
    retry: {
      attempts: 3,
      backoff: { kind: "exponential", first: "1s", factor: 2, jitter: "50%" },
      retryAfter: { max: "1m" },
    },
    crash: { deliveries: 2 },
    deadLetter: { retain: "7d", alarmAbove: 10 },
  },
  "per key": { ...common, ...timed, order: "per-key", retry: { attempts: 3, backoff: { kind: "immediate" } } },
} as const;

const cases = Object.keys(consumers).flatMap((name) =>
  (["auto", "immediate", "scheduled", "ttl-tier"] as const).map((strategy) => ({
    name: name as keyof typeof consumers,
    strategy,
  })),
);

test.for(cases)("$name, strategy $strategy", async ({ name, strategy }) => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" }, payments: { kind: "fanout" } },
    consumers: { billing: consumers[name] },
  });
  const result = compile(system, { broker: "servicebus", sku: "standard", strategy });
  const text = result.ok
    ? `${JSON.stringify({ ...result.value, warnings: result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`) }, null, 2)}\n`
    : `NOT SUPPORTED\n\n${renderDiagnostics(result.diagnostics)}\n`;
  await expect(text).toMatchFileSnapshot(
    `servicebus/${name.replaceAll(" ", "-")}-${strategy}.${result.ok ? "json" : "txt"}`,
  );
});

test("one dead queue for all, and duplicate detection", async () => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: consumers.exponential, shipping: { ...consumers["at once"], from: { orders: "all" } } },
  });
  const result = compile(system, {
    broker: "servicebus",
    sku: "premium",
    lock: "30s",
    duplicates: "10m",
    deadQueue: "shared",
  });
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  await expect(`${JSON.stringify(result.value.topology, null, 2)}\n`).toMatchFileSnapshot("servicebus/shared.json");
});

test("the basic tier, which has queues only", async () => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "fanout" } },
    consumers: { billing: { ...consumers.exponential, from: { orders: "all" } } },
  });
  const result = compile(system, { broker: "servicebus", sku: "basic" });
  if (!result.ok) throw new Error(renderDiagnostics(result.diagnostics));
  const [contract] = result.value.contracts;
  const { topology } = result.value;
  const text = JSON.stringify({ topology, sources: contract?.sources }, null, 2);
  await expect(`${text}\n`).toMatchFileSnapshot("servicebus/basic.json");
});
