import { describe, expect, test } from "vitest";

import { regions } from "../../src/brokers/sqs/compile/regions.ts";
import { filterOf } from "../../src/brokers/sqs/compile/filter.ts";
import { retentionOf } from "../../src/brokers/sqs/compile/retention.ts";
import { checkSystem, compile, type CompiledSystem, type Diagnostic, parseTarget } from "../../src/index.ts";
import { accepted, oneConsumer } from "../support/examples.ts";

const eu = { broker: "sqs", region: "eu-west-1" } as const;
const constant = (delay: string, attempts = 3): object => ({ attempts, backoff: { kind: "constant", delay } });

/** Compiles a consumer for SQS, which may only warn about returned messages. */
function compiled(consumer: object, system: object = {}) {
  const checked = checkSystem(
    oneConsumer({ retry: constant("30s"), handlerTimeout: "10s", ...consumer }, { ...system }),
  );
  return checked.ok ? compile(checked.value, eu) : checked;
}

function saidOf(consumer: object, system: object = {}): readonly Diagnostic[] {
  const result = compiled(consumer, system);
  return (result.ok ? result.warnings : result.diagnostics).filter(({ code }) => code !== "RD207");
}

function workOf(consumer: object) {
  const result = accepted(compiled(consumer));
  const { topology, contracts } = result as CompiledSystem<"sqs">;
  const work = topology.queues.find(({ role }) => role === "work");
  const [contract] = contracts;
  if (work === undefined || contract === undefined) throw new Error("no work queue");
  return { work, contract, topology };
}

describe("a target", () => {
  test.each(regions)("%s is a region", (region) => {
    expect(parseTarget(`sqs@${region}`)).toEqual({
      ok: true,
      warnings: [],
      value: { broker: "sqs", region, strategy: "auto" },
    });
  });

  test.each([
    ["sqs", "the target names no known region of AWS"],
    ["sqs@", "the target names no known region of AWS"],
    ["sqs@eu-west-9", '"eu-west-9" is no known region of AWS'],
    ["sqs@EU-WEST-1", '"EU-WEST-1" is no known region of AWS'],
  ])("%s is not a target", (text, message) => {
    const target = parseTarget(text);
    expect(!target.ok && target.diagnostics.map((each) => [each.code, each.message])).toEqual([["RD201", message]]);
  });

  test("the refusal names the nearest regions, and an unknown strategy beside an unknown region", () => {
    const target = parseTarget("sqs@eu-west1", "staged");
    expect(target.ok ? [] : target.diagnostics.map(({ path }) => path)).toEqual(["target.region", "target.strategy"]);
    expect(!target.ok && target.diagnostics[0]?.notes).toEqual(["the nearest are eu-west-1, eu-west-2, eu-west-3"]);
  });

  test("a checked target can be checked again", () => {
    const system = checkSystem(oneConsumer({ retry: constant("30s"), handlerTimeout: "10s" }));
    const target = parseTarget("sqs@eu-west-1");
    if (!system.ok || !target.ok) throw new Error("refused");
    expect(compile(system.value, target.value)).toEqual(compile(system.value, eu));
  });
});

describe("a declaration that AWS would refuse in the middle of a deployment, or silently break, is refused before", () => {
  const exponential = (first: string): object => ({ attempts: 2, backoff: { kind: "exponential", first, factor: 1 } });
  test.each<[string, object, string, string]>([
    ["12 h and 1 s of delay", { retry: exponential("43201s") }, "RD203", "consumers.billing.retry.backoff"],
    ["12 h of delay, and the handler", { retry: exponential("12h") }, "RD203", "consumers.billing.retry.backoff"],
    ["a delay of 15 days", { retry: exponential("15d") }, "RD203", "consumers.billing.retry.backoff"],
    ["a retention of 15 days", { deadLetter: { retain: "15d" } }, "RD610", "consumers.billing.deadLetter.retain"],
    [
      "all 14 days on a standard queue",
      { deadLetter: { retain: "14d" } },
      "RD610",
      "consumers.billing.deadLetter.retain",
    ],
    [
      "15 days on FIFO",
      { order: "per-key", deadLetter: { retain: "15d" } },
      "RD610",
      "consumers.billing.deadLetter.retain",
    ],
    ["maxReceiveCount 0", { retry: constant("30s", 0) }, "RD104", "consumers.billing.retry.attempts"],
    ["maxReceiveCount 1001", { retry: constant("30s", 1_001) }, "RD104", "consumers.billing.retry.attempts"],
    [
      "a single receive",
      { retry: { attempts: 1, backoff: { kind: "immediate" } } },
      "RD611",
      "consumers.billing.retry.attempts",
    ],
    ["visibility below the handler's time", { handlerTimeout: "13h" }, "RD218", "consumers.billing.handlerTimeout"],
    ["retries beyond the retention", { retry: constant("10h", 40) }, "RD609", "consumers.billing.retry"],
    ["a crash budget of its own", { crash: { deliveries: 2 } }, "RD203", "consumers.billing.crash.deliveries"],
    ["half a second", { retry: constant("500ms") }, "RD203", "consumers.billing.retry.backoff"],
    [
      "back-off per message on FIFO",
      { order: "per-key", retry: exponential("1s"), handlerTimeout: undefined },
      "RD203",
      "consumers.billing",
    ],
    [
      "a pattern with a wildcard for a word",
      { from: { orders: ["a", "order.*"] } },
      "RD216",
      "consumers.billing.from.orders[1]",
    ],
    [
      "151 values to filter by",
      { from: { orders: Array.from({ length: 151 }, (_, index) => `k${index}`) } },
      "RD216",
      "consumers.billing.from.orders",
    ],
    [
      "half a second that a handler asks for",
      { retry: { ...constant("30s"), retryAfter: { max: "1500ms" } } },
      "RD203",
      "consumers.billing.retry.retryAfter",
    ],
  ])("%s", (_name, consumer, code, path) => {
    const said = saidOf(consumer);
    expect(said.map((each) => [each.code, each.path])).toEqual([[code, path]]);
    expect(said[0]?.help).not.toBe(undefined);
  });

  test("names: 80 characters with everything derived, and no .fifo of the user's own, no two alike", () => {
    const system = (consumer: string): { readonly consumers: object } => ({
      consumers: { [consumer]: { from: { orders: "all" }, retry: constant("30s"), handlerTimeout: "10s" } },
    });
    // `shop-` and `-undelivered` are 17 characters.
    expect(saidOf({}, system("c".repeat(63)))).toEqual([]);
    expect(saidOf({}, system("c".repeat(64))).map(({ code, message }) => [code, message])).toEqual([
      ["RD204", "a queue name derived from this would have 81 characters; 80 are allowed"],
    ]);
    const [fifo] = saidOf({}, system("billing.fifo"));
    expect([fifo?.code, fifo?.help]).toEqual(["RD204", 'write for example "billing"']);
    expect(fifo?.notes.join()).toContain("per-key");
    for (const address of [
      "https://sqs.eu-west-1.amazonaws.com/123456789012/billing",
      "https://sqs.eu-west-1.amazonaws.com/1/billing/?a=b",
      "arn:aws:sqs:eu-west-1:1:billing",
    ])
      expect(saidOf({ queue: address })[0]).toMatchObject({ code: "RD204", help: 'write for example "billing"' });
    expect(saidOf({}, { name: "größe" })[0]?.path).toBe("name");
    const [clash] = saidOf({}, { consumers: { ...system("a").consumers, ...system("a-dead").consumers } });
    expect([clash?.code, clash?.message]).toEqual([
      "RD205",
      '"shop-a-dead" would be the dead queue of a and the work queue of a-dead',
    ]);
    const source = (name: string): object => ({ sources: { [name]: { kind: "topic" }, orders: { kind: "topic" } } });
    expect(saidOf({}, source("s".repeat(246)))).toEqual([]);
    expect(saidOf({}, source("s".repeat(247))).map(({ code }) => code)).toEqual(["RD204"]);
  });

  test("every problem is reported at once, and no consequence of a reported one", () => {
    const said = saidOf(
      { handlerTimeout: "13h", from: { orders: ["order.*"] }, crash: { deliveries: 1 } },
      { name: "a b" },
    );
    expect(said.map(({ code }) => code)).toEqual(["RD204", "RD218", "RD216"]);
  });
});

describe("the visibility timeout", () => {
  test("under redrive it is the handler's time plus the delay", () => {
    const { work, contract } = workOf({ handlerTimeout: "1500ms", retry: constant("30s") });
    expect(contract.strategy).toBe("redrive");
    expect(work.visibilityTimeoutSeconds).toBe(32);
    expect(contract.attempts[1]).toEqual({ attempt: 2, delayMs: 30_000, delayLatestMs: 32_000 });
    expect(contract.outcomes.transient).toEqual([]);
  });

  test("may be up to 12 h for both together", () => {
    expect(workOf({ handlerTimeout: "1h", retry: constant("11h") }).work.visibilityTimeoutSeconds).toBe(43_200);
    expect(saidOf({ handlerTimeout: "1h", retry: constant("39601s") }).map(({ code }) => code)).toEqual(["RD203"]);
  });

  test("under visibility it covers the handler, and each attempt has its own delay, the last none", () => {
    const backoff = { kind: "exponential", first: "10s", factor: 2, jitter: "25%" };
    const { work, contract } = workOf({ retry: { attempts: 3, backoff, retryAfter: { max: "1m" } } });
    expect(contract.strategy).toBe("visibility");
    expect(work.visibilityTimeoutSeconds).toBe(20);
    const after = (visibilityTimeoutSeconds: unknown): object[] => [
      { operation: "ChangeMessageVisibility", visibilityTimeoutSeconds },
    ];
    expect(contract.outcomes.transient).toEqual({
      byAttempt: [after({ from: 10, to: 12 }), after({ from: 20, to: 25 }), after({ from: 0, to: 0 })],
    });
    expect(contract.retryAfter).toEqual([
      { upToMs: 60_000, byAttempt: [after("asked"), after("asked"), after({ from: 0, to: 0 })] },
    ]);
    expect(contract.attempts[1]).toEqual({ attempt: 2, delayMs: 10_000, delayLatestMs: 12_000 });
  });

  test("without a handler timeout it is the default of SQS, with a warning", () => {
    const backoff = { kind: "immediate" };
    expect(workOf({ handlerTimeout: undefined, retry: { attempts: 3, backoff } }).work.visibilityTimeoutSeconds).toBe(
      30,
    );
    expect(saidOf({ handlerTimeout: undefined, retry: { attempts: 3, backoff } }).map(({ code }) => code)).toEqual([
      "RD217",
    ]);
  });
});

describe("retention", () => {
  const day = 86_400;
  test.each([
    [
      "nothing declared: SQS's own for the work queue",
      false,
      null,
      60,
      { workSeconds: 4 * day, leftSeconds: 10 * day },
    ],
    ["dead letters get their declared retention", false, 12 * day, 60, { workSeconds: 2 * day, leftSeconds: 12 * day }],
    ["a long window, and a day more", false, null, 5 * day - 1, { workSeconds: 6 * day, leftSeconds: 8 * day }],
    ["on FIFO the clock starts again", true, 14 * day, 60, { workSeconds: 14 * day, leftSeconds: 14 * day }],
  ])("%s", (_name, fifo, retainSeconds, windowSeconds, expected) => {
    expect(retentionOf(fifo, retainSeconds, windowSeconds)).toEqual({
      ...expected,
      deadSeconds: 14 * day,
      windowSeconds,
    });
  });

  test("is exact to the second: the work queue keeps a message longer than its retries take, by a minute at least", () => {
    // 3 attempts of 40 s are 2 min.
    const mostMs = 14 * day * 1_000 - 120_000;
    const retain = (ms: number): object => ({ deadLetter: { retain: `${ms}ms` } });
    expect(saidOf(retain(mostMs)).map(({ code }) => code)).toEqual(["RD610"]);
    expect(saidOf(retain(mostMs - 999)).map(({ code }) => code)).toEqual(["RD610"]);
    expect(saidOf(retain(mostMs - 1_000)).map(({ code }) => code)).toEqual(["RD615"]);
    expect(workOf(retain(mostMs - 1_000)).work.retentionSeconds).toBe(121);
    const quick = { retry: { attempts: 2, backoff: { kind: "immediate" } }, handlerTimeout: "1s" };
    expect(saidOf({ ...quick, ...retain(14 * day * 1_000 - 59_000) }).map(({ code }) => code)).toEqual(["RD610"]);
    expect(workOf({ ...quick, ...retain(14 * day * 1_000 - 60_000) }).work.retentionSeconds).toBe(60);
  });

  test("that is short gives a warning", () => {
    expect(saidOf({ deadLetter: { retain: "10d" } })).toEqual([]);
    const [retain] = saidOf({ deadLetter: { retain: "12d" } });
    expect(retain?.message).toBe("a message that no consumer receives within 2d is deleted from the work queue");
    const [window] = saidOf({ retry: constant("10h", 25) });
    expect([window?.code, window?.message]).toEqual([
      "RD615",
      "a dead letter may be deleted 2d after it came to the dead queue",
    ]);
  });
});

test.each([
  [["order.placed"], ["order.placed"]],
  [["order.#"], ["order", { prefix: "order." }]],
  [["#.placed"], ["placed", { suffix: ".placed" }]],
  [
    ["order.#.#", "order.#"],
    ["order", { prefix: "order." }],
  ],
  [["order.placed", "#"], null],
  [["#.#"], null],
])("%j becomes the filter %j", (keys, values) => {
  expect(filterOf(keys, "topic")).toEqual({ values });
});

test.each(["*", "order.*", "*.placed", "a.#.b", "#.a.#", "order.*.#", 'a"b', "a\\b"])(
  "%j cannot be a filter of SNS",
  (key) => {
    expect(filterOf([key], "topic")).toHaveProperty("problems");
  },
);

test("a direct source is compared literally, and a fanout source is not compared", () => {
  expect(filterOf(["a*b#"], "direct")).toEqual({ values: ["a*b#"] });
  expect(filterOf("all", "fanout")).toEqual({ values: null });
});

test("a source is FIFO if one consumer needs order, and then feeds standard queues, too", () => {
  const mail = { from: { orders: "all" }, retry: constant("30s"), handlerTimeout: "10s" };
  const result = accepted(compiled({}, { consumers: { billing: { ...mail, order: "per-key" }, mail } }));
  const { topology, contracts } = result as CompiledSystem<"sqs">;
  expect(topology.topics).toEqual([{ name: "shop-orders.fifo", source: "orders", fifo: true }]);
  const most = contracts.map(({ workQueue, receive }) => `${workQueue}: ${receive.maxNumberOfMessages}`);
  expect(most).toEqual(["shop-billing.fifo: 1", "shop-mail: 10"]);
});
