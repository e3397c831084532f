import { expect, test } from "vitest";

import { strategyNames, versions } from "../../src/brokers/rabbitmq/capabilities.ts";
import { compile, renderDiagnostics } from "../../src/index.ts";
import { checked } from "../support/examples.ts";

// One declaration per strategy that it keeps somewhere; the golden file says what each version makes of it, or why it does not.
// A change of these files is read in review: it is what changes on our users' brokers.

const common = { from: { orders: ["order.placed", "order.#"] }, errors: { permanent: ["ValidationError"] } };
const exponential = { kind: "exponential", first: "1s", factor: 2, max: "10s" };
const consumers = {
  native: { ...common, retry: { attempts: 4, backoff: { kind: "linear", first: "10s", max: "25s" } }, handlerTimeout: "45m" },
  deferred: { ...common, protocol: "amqp-1.0", retry: { attempts: 4, backoff: { ...exponential, jitter: "20%" }, retryAfter: { max: "1m" } } },
  staged: { ...common, crash: { deliveries: 3 }, retry: { attempts: 4, backoff: exponential }, handlerTimeout: "45m" },
  waits: { ...common, crash: { deliveries: 3 }, retry: { attempts: 4, backoff: { ...exponential, jitter: "20%" }, retryAfter: { max: "3s" } } },
} as const;

const cases = strategyNames.flatMap((strategy) => versions.map((version) => ({ strategy, version })));

test.for(cases)("$strategy on $version", async ({ strategy, version }) => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: consumers[strategy], cache: { from: { orders: "all" }, delivery: "every-instance" } },
  });
  const result = compile(system, { broker: "rabbitmq", version, strategy });
  const text = result.ok
    ? `${JSON.stringify({ ...result.value, warnings: result.warnings.map(({ code, path, message }) => `${code} ${path}: ${message}`) }, null, 2)}\n`
    : `NOT SUPPORTED\n\n${renderDiagnostics(result.diagnostics)}\n`;
  await expect(text).toMatchFileSnapshot(`rabbitmq/${version}-${strategy}.${result.ok ? "json" : "txt"}`);
});
