import { test } from "vitest";

import { compile } from "../../src/index.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { expectGolden, expectStrategy } from "../support/golden.ts";

// The compiler's output or refusal for Service Bus, for each strategy. Review every change of these files: it changes
// our users' namespaces.

const common = { from: { orders: ["order.placed", "order.#"] }, errors: { permanent: ["ValidationError"] } };
const exponential = { kind: "exponential", first: "1s", factor: 2 };
const timed = { handlerTimeout: "10s" };

const consumers = {
  "constant delay": { ...common, ...timed, retry: { attempts: 3, backoff: { kind: "constant", delay: "30s" } } },
  "at once": { ...common, ...timed, retry: { attempts: 3, backoff: { kind: "immediate" } } },
  exponential: {
    ...common,
    ...timed,
    retry: { attempts: 3, backoff: { ...exponential, jitter: "50%" }, retryAfter: { max: "1m" } },
    crash: { deliveries: 2 },
    deadLetter: { retain: "7d", alarmAbove: 10 },
  },
  "per key": { ...common, ...timed, order: "per-key", retry: { attempts: 3, backoff: { kind: "immediate" } } },
} as const;

const cases = Object.keys(consumers).flatMap((name) =>
  (["auto", "immediate", "scheduled", "ttl-tier"] as const).map((strategy) => ({ name: name as Name, strategy })),
);

type Name = keyof typeof consumers;

function outcome({ name, strategy }: (typeof cases)[number]): ReturnType<typeof compile> {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "topic" }, payments: { kind: "fanout" } },
    consumers: { billing: consumers[name] },
  });
  return compile(system, { broker: "servicebus", sku: "standard", strategy });
}

test.for(cases)("$name, strategy $strategy", async (each) => {
  await expectStrategy("servicebus", each, cases, outcome);
});

test("one dead queue for all, and duplicate detection", async () => {
  const shipping = { ...consumers["at once"], from: { orders: "all" } };
  const system = checked(shopWith({ billing: consumers.exponential, shipping }));
  const options = { lock: "30s", duplicates: "10m", deadQueue: "shared" } as const;
  const result = accepted(compile(system, { broker: "servicebus", sku: "premium", ...options }));
  await expectGolden("servicebus/shared.json", result.topology);
});

test("the basic tier, which has only queues", async () => {
  const system = checked({
    name: "shop",
    sources: { orders: { kind: "fanout" } },
    consumers: { billing: { ...consumers.exponential, from: { orders: "all" } } },
  });
  const result = accepted(compile(system, { broker: "servicebus", sku: "basic" }));
  const [contract] = result.contracts;
  const { topology } = result;
  await expectGolden("servicebus/basic.json", { topology, sources: contract?.sources });
});
