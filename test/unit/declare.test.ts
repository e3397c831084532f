import { describe, expect, test } from "vitest";

import { checkSystem, constant, defineSystem, exponential, linear, RefusedError, steps } from "../../src/index.ts";
import { formatDurationMs, parseDurationMs } from "../../src/declare/duration.ts";
import { oneConsumer } from "../support/examples.ts";

const steady = { kind: "constant", delay: "1s" };

/** Mistakes in a declaration, each with the only place and code that report it. */
const mistakes: readonly (readonly [what: string, input: unknown, code: string, path: string])[] = [
  ["null", null, "RD101", ""],
  ["a list", [], "RD101", ""],
  ["a name that is missing", oneConsumer({}, { name: undefined }), "RD101", "name"],
  ["an empty name", oneConsumer({}, { name: "" }), "RD111", "name"],
  ["a name of 300 characters", oneConsumer({}, { name: "n".repeat(300) }), "RD111", "name"],
  ["a key at the top", oneConsumer({}, { consumer: {} }), "RD102", "consumer"],
  ["a kind of source", oneConsumer({}, { sources: { orders: { kind: "topc" } } }), "RD101", "sources.orders.kind"],
  ["a key of a consumer", oneConsumer({ retries: 3 }), "RD102", "consumers.billing.retries"],
  ["no retry", oneConsumer({ retry: undefined }), "RD101", "consumers.billing.retry"],
  ["attempts 0", oneConsumer({ retry: { attempts: 0, backoff: steady } }), "RD104", "consumers.billing.retry.attempts"],
  [
    "attempts 1 000 000",
    oneConsumer({ retry: { attempts: 1_000_000, backoff: steady } }),
    "RD104",
    "consumers.billing.retry.attempts",
  ],
  [
    "attempts 2.5",
    oneConsumer({ retry: { attempts: 2.5, backoff: steady } }),
    "RD101",
    "consumers.billing.retry.attempts",
  ],
  [
    "attempts as a text",
    oneConsumer({ retry: { attempts: "3", backoff: steady } }),
    "RD101",
    "consumers.billing.retry.attempts",
  ],
  [
    "attempts NaN",
    oneConsumer({ retry: { attempts: Number.NaN, backoff: steady } }),
    "RD101",
    "consumers.billing.retry.attempts",
  ],
  [
    "a kind of backoff",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "exponental" } } }),
    "RD101",
    "consumers.billing.retry.backoff.kind",
  ],
  [
    "a backoff that is a text",
    oneConsumer({ retry: { attempts: 3, backoff: "1s" } }),
    "RD101",
    "consumers.billing.retry.backoff",
  ],
  [
    "a bare number as delay",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: 1000 } } }),
    "RD101",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a delay with a blank",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "1 s" } } }),
    "RD103",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a fraction of a second",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "1.5s" } } }),
    "RD103",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a negative delay",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "-1s" } } }),
    "RD103",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a delay below 1 ms",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "0ms" } } }),
    "RD105",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a delay above ten years",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay: "3651d" } } }),
    "RD105",
    "consumers.billing.retry.backoff.delay",
  ],
  [
    "a factor below 1",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 0.5 } } }),
    "RD104",
    "consumers.billing.retry.backoff.factor",
  ],
  [
    "max below first",
    oneConsumer({ retry: { attempts: 3, backoff: { kind: "linear", first: "10s", max: "5s" } } }),
    "RD106",
    "consumers.billing.retry.backoff.max",
  ],
  [
    "growth beyond ten years",
    oneConsumer({ retry: { attempts: 60, backoff: { kind: "exponential", first: "1s", factor: 2 } } }),
    "RD105",
    "consumers.billing.retry.backoff",
  ],
  [
    "too few steps",
    oneConsumer({ retry: { attempts: 4, backoff: { kind: "steps", delays: ["1s"] } } }),
    "RD107",
    "consumers.billing.retry.backoff.delays",
  ],
  [
    "a step out of range",
    oneConsumer({ retry: { attempts: 2, backoff: { kind: "steps", delays: ["0s"] } } }),
    "RD105",
    "consumers.billing.retry.backoff.delays[0]",
  ],
  [
    "jitter without %",
    oneConsumer({ retry: { attempts: 3, backoff: { ...steady, jitter: "20" } } }),
    "RD104",
    "consumers.billing.retry.backoff.jitter",
  ],
  [
    "jitter of 0%",
    oneConsumer({ retry: { attempts: 3, backoff: { ...steady, jitter: "0%" } } }),
    "RD104",
    "consumers.billing.retry.backoff.jitter",
  ],
  [
    "giveUpAfter of nothing",
    oneConsumer({ retry: { attempts: 3, backoff: steady, giveUpAfter: "0s" } }),
    "RD105",
    "consumers.billing.retry.giveUpAfter",
  ],
  ["crash deliveries 0", oneConsumer({ crash: { deliveries: 0 } }), "RD104", "consumers.billing.crash.deliveries"],
  ["no source", oneConsumer({ from: {} }), "RD109", "consumers.billing.from"],
  ["an undeclared source", oneConsumer({ from: { order: ["x"] } }), "RD108", "consumers.billing.from.order"],
  ["an empty list of keys", oneConsumer({ from: { orders: [] } }), "RD109", "consumers.billing.from.orders"],
  ["a key twice", oneConsumer({ from: { orders: ["a", "b", "a"] } }), "RD110", "consumers.billing.from.orders[2]"],
  ["an empty key", oneConsumer({ from: { orders: [""] } }), "RD111", "consumers.billing.from.orders[0]"],
  ["half a wildcard", oneConsumer({ from: { orders: ["order.pl*"] } }), "RD110", "consumers.billing.from.orders[0]"],
  [
    "a wildcard on a direct source",
    oneConsumer({ from: { orders: ["order.*"] } }, { sources: { orders: { kind: "direct" } } }),
    "RD110",
    "consumers.billing.from.orders[0]",
  ],
  [
    "all of a direct source",
    oneConsumer({ from: { orders: "all" } }, { sources: { orders: { kind: "direct" } } }),
    "RD110",
    "consumers.billing.from.orders",
  ],
  [
    "keys on a fanout source",
    oneConsumer({ from: { orders: ["a"] } }, { sources: { orders: { kind: "fanout" } } }),
    "RD110",
    "consumers.billing.from.orders",
  ],
  [
    "a key of 256 bytes",
    oneConsumer({ from: { orders: ["é".repeat(128)] } }),
    "RD110",
    "consumers.billing.from.orders[0]",
  ],
  ["retry for every instance", oneConsumer({ delivery: "every-instance" }), "RD112", "consumers.billing.retry"],
  ["a delivery that is none", oneConsumer({ delivery: "everywhere" }), "RD101", "consumers.billing.delivery"],
  [
    "an alarm below zero",
    oneConsumer({ deadLetter: { alarmAbove: -1 } }),
    "RD104",
    "consumers.billing.deadLetter.alarmAbove",
  ],
];

describe("a mistake gives one diagnostic at its own place", () => {
  test.each(mistakes)("%s", (_what, input, code, path) => {
    const result = checkSystem(input);
    if (result.ok) throw new Error("accepted");
    expect(result.diagnostics.map((each) => [each.code, each.path])).toEqual([[code, path]]);
    const [only] = result.diagnostics;
    expect(only?.message).not.toBe("");
    expect(only?.help).toBeTruthy();
  });
});

test("all independent problems are reported at once, each at its own path", () => {
  const result = checkSystem({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    extra: 1,
    consumers: {
      a: { from: { orders: ["x", "x"] }, retry: { attempts: 0, backoff: steady } },
      b: { from: { nobody: ["x"] }, retry: { attempts: 3, backof: steady } },
      c: { from: { orders: ["x"] }, retry: { attempts: 3, backoff: { kind: "steps", delays: ["1s"] } } },
    },
  });
  if (result.ok) throw new Error("accepted");
  expect(result.diagnostics.map((each) => `${each.code} ${each.path}`).toSorted()).toEqual([
    "RD102 consumers.b.retry.backof",
    "RD102 extra",
    "RD104 consumers.a.retry.attempts",
    "RD107 consumers.c.retry.backoff.delays",
    "RD108 consumers.b.from.nobody",
    "RD110 consumers.a.from.orders[1]",
  ]);
});

test("an unknown key names the allowed ones and the nearest", () => {
  const result = checkSystem(oneConsumer({ crsh: { deliveries: 3 } }));
  if (result.ok) throw new Error("accepted");
  expect(result.diagnostics[0]?.help).toBe("did you mean crash?");
  expect(result.diagnostics[0]?.notes[0]).toContain("from, retry, crash, handlerTimeout");
});

test("a hostile name changes nothing else", () => {
  const input = JSON.parse('{"name":"shop","sources":{"__proto__":{"kind":"topic"}},"consumers":{}}') as unknown;
  checkSystem(input);
  expect(({} as { kind?: string }).kind).toBeUndefined();
});

test("defineSystem returns frozen data with the defaults filled in", () => {
  const system = defineSystem({
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { from: { orders: ["order.placed"] }, retry: { attempts: 3, backoff: constant("30s") } } },
  });
  expect(system.consumers["billing"]).toMatchObject({ delivery: "work-queue", order: "none", protocol: "amqp-0-9-1" });
  expect(Object.isFrozen(system.consumers["billing"]?.retry?.backoff)).toBe(true);
});

test("defineSystem throws every diagnostic, rendered", () => {
  const declare = (): unknown => defineSystem(oneConsumer({ retry: { attempts: 0, backoff: steady } }));
  expect(declare).toThrow(RefusedError);
  expect(declare).toThrow(/RD104.*out of range[\s\S]*consumers\.billing\.retry\.attempts = 0[\s\S]*fix/);
});

test("the backoffs are plain data, equal to their form in YAML", () => {
  expect(constant("30s", { jitter: "20%" })).toEqual({ kind: "constant", delay: "30s", jitter: "20%" });
  expect(linear({ first: "10s", max: "1m" })).toEqual({ kind: "linear", first: "10s", max: "1m" });
  expect(exponential({ first: "1s", factor: 2 })).toEqual({ kind: "exponential", first: "1s", factor: 2 });
  expect(steps(["1s", "10s"])).toEqual({ kind: "steps", delays: ["1s", "10s"] });
});

test.each([
  ["250ms", 250, "250ms"],
  ["90s", 90_000, "1m 30s"],
  ["14d", 1_209_600_000, "14d"],
  ["0s", 0, "0s"],
  ["1500ms", 1_500, "1s 500ms"],
])("%s is %i ms, written %s", (text, durationMs, written) => {
  expect(parseDurationMs(text)).toBe(durationMs);
  expect(formatDurationMs(durationMs)).toBe(written);
});

test.each([
  ["P5M", 'write it as "5m", if you mean minutes: in ISO 8601 P5M is months'],
  ["PT5M", 'write it as "5m"'],
  ["PT30S", 'write it as "30s"'],
  ["P14D", 'write it as "14d"'],
  ["PT1H30M", 'write it as "90m"'],
])("%o, in ISO 8601, is refused with the form that Redeliver takes", (delay, help) => {
  const checked = checkSystem(oneConsumer({ retry: { attempts: 3, backoff: { kind: "constant", delay } } }));
  expect(checked).toMatchObject({ ok: false, diagnostics: [{ code: "RD103", help }] });
});

test("a text that is not a duration does not parse", () => {
  for (const text of ["", "s", "1", "01s", "1 s", "1e3s", "1.5s", "-1s", "1S", "１s"]) {
    expect(() => parseDurationMs(text), text).toThrow(TypeError);
  }
});
