import { test } from "vitest";

import { type RabbitmqVersion, strategyNames, versions } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { compile } from "../../src/index.ts";
import { checked, shopWith } from "../support/examples.ts";
import { expectCompiled, nearestOf, type Sibling } from "../support/golden.ts";

// One declaration for each strategy, chosen so that some version keeps it. The golden file holds each version's output
// or refusal. Review every change of these files: it changes our users' brokers.

const common = { from: { orders: ["order.placed", "order.#"] }, errors: { permanent: ["ValidationError"] } };
const exponential = { kind: "exponential", first: "1s", factor: 2, max: "10s" };
const consumers = {
  native: { ...common, retry: { attempts: 4, backoff: { kind: "linear", first: "10s", max: "25s" } }, handlerTimeout: "45m" },
  deferred: { ...common, protocol: "amqp-1.0", retry: { attempts: 4, backoff: { ...exponential, jitter: "20%" }, retryAfter: { max: "1m" } } },
  staged: { ...common, crash: { deliveries: 3 }, retry: { attempts: 4, backoff: exponential }, handlerTimeout: "45m" },
  waits: { ...common, crash: { deliveries: 3 }, retry: { attempts: 4, backoff: { ...exponential, jitter: "20%" }, retryAfter: { max: "3s" } } },
} as const;

type Strategy = (typeof strategyNames)[number];
const cases = strategyNames.flatMap((strategy) => versions.map((version) => ({ strategy, version })));

// The first result is written in full, an older version as its difference to the next one, and the newest version of
// another strategy as its difference to the strategy that it resembles most.
test.for(cases)("$strategy on $version", async ({ strategy, version }) => {
  const on = (version: RabbitmqVersion, strategy: Strategy): Sibling => {
    const cache = { from: { orders: "all" }, delivery: "every-instance" };
    const system = checked(shopWith({ billing: consumers[strategy], cache }));
    return { file: `${version}-${strategy}`, result: compile(system, { broker: "rabbitmq", version, strategy }) };
  };
  const { file, result } = on(version, strategy);
  const next = versions[versions.indexOf(version) + 1];
  const before = strategyNames.slice(0, strategyNames.indexOf(strategy)).map((each) => on(version, each));
  await expectCompiled(`rabbitmq/${file}`, result, next === undefined ? nearestOf(before, result) : on(next, strategy));
});
