import { describe, expect, test } from "vitest";

import { checkSystem, constant, defineSystem, exponential, linear, RefusedError, steps } from "../../src/index.ts";
import { formatDurationMs, parseDurationMs } from "../../src/declare/duration.ts";
import { oneConsumer, within } from "../support/examples.ts";

const steady = { kind: "constant", delay: "1s" };
const system = within("", (fields: Record<string, unknown>) => oneConsumer({}, fields));
const consumer = within("consumers.billing", oneConsumer);
const from = within("consumers.billing.from", (value: object) => oneConsumer({ from: value }));
/** From a source of this kind. */
const fromKind = (kind: string) =>
  within("consumers.billing.from", (from: object) => oneConsumer({ from }, { sources: { orders: { kind } } }));
const retry = within("consumers.billing.retry", (fields: object) =>
  oneConsumer({ retry: { attempts: 3, backoff: steady, ...fields } }),
);
const backoff = within("consumers.billing.retry.backoff", (value: unknown) =>
  oneConsumer({ retry: { attempts: 3, backoff: value } }),
);
const delay = (what: string, value: unknown, code: string) => backoff(what, { ...steady, delay: value }, code, "delay");

/** Mistakes in a declaration, each with the only place and code that report it. */
const mistakes: readonly (readonly [what: string, input: unknown, code: string, path: string])[] = [
  ["null", null, "RD101", ""],
  ["a list", [], "RD101", ""],
  system("a name that is missing", { name: undefined }, "RD101", "name"),
  system("an empty name", { name: "" }, "RD111", "name"),
  system("a name of 300 characters", { name: "n".repeat(300) }, "RD111", "name"),
  system("a key at the top", { consumer: {} }, "RD102", "consumer"),
  system("a kind of source", { sources: { orders: { kind: "topc" } } }, "RD101", "sources.orders.kind"),
  consumer("a key of a consumer", { retries: 3 }, "RD102", "retries"),
  consumer("no retry", { retry: undefined }, "RD101", "retry"),
  retry("attempts 0", { attempts: 0 }, "RD104", "attempts"),
  retry("attempts 1 000 000", { attempts: 1_000_000 }, "RD104", "attempts"),
  retry("attempts 2.5", { attempts: 2.5 }, "RD101", "attempts"),
  retry("attempts as a text", { attempts: "3" }, "RD101", "attempts"),
  retry("attempts NaN", { attempts: Number.NaN }, "RD101", "attempts"),
  backoff("a kind of backoff", { kind: "exponental" }, "RD101", "kind"),
  backoff("a backoff that is a text", "1s", "RD101", ""),
  delay("a bare number as delay", 1000, "RD101"),
  delay("a delay with a blank", "1 s", "RD103"),
  delay("a fraction of a second", "1.5s", "RD103"),
  delay("a negative delay", "-1s", "RD103"),
  delay("a delay below 1 ms", "0ms", "RD105"),
  delay("a delay above ten years", "3651d", "RD105"),
  backoff("a factor below 1", { kind: "exponential", first: "1s", factor: 0.5 }, "RD104", "factor"),
  backoff("max below first", { kind: "linear", first: "10s", max: "5s" }, "RD106", "max"),
  retry(
    "growth beyond ten years",
    { attempts: 60, backoff: { kind: "exponential", first: "1s", factor: 2 } },
    "RD105",
    "backoff",
  ),
  retry("too few steps", { attempts: 4, backoff: { kind: "steps", delays: ["1s"] } }, "RD107", "backoff.delays"),
  retry(
    "a step out of range",
    { attempts: 2, backoff: { kind: "steps", delays: ["0s"] } },
    "RD105",
    "backoff.delays[0]",
  ),
  backoff("jitter without %", { ...steady, jitter: "20" }, "RD104", "jitter"),
  backoff("jitter of 0%", { ...steady, jitter: "0%" }, "RD104", "jitter"),
  retry("giveUpAfter of nothing", { giveUpAfter: "0s" }, "RD105", "giveUpAfter"),
  consumer("crash deliveries 0", { crash: { deliveries: 0 } }, "RD104", "crash.deliveries"),
  from("no source", {}, "RD109", ""),
  from("an undeclared source", { order: ["x"] }, "RD108", "order"),
  from("an empty list of keys", { orders: [] }, "RD109", "orders"),
  from("a key twice", { orders: ["a", "b", "a"] }, "RD110", "orders[2]"),
  from("an empty key", { orders: [""] }, "RD111", "orders[0]"),
  from("half a wildcard", { orders: ["order.pl*"] }, "RD110", "orders[0]"),
  fromKind("direct")("a wildcard on a direct source", { orders: ["order.*"] }, "RD110", "orders[0]"),
  fromKind("direct")("all of a direct source", { orders: "all" }, "RD110", "orders"),
  fromKind("fanout")("keys on a fanout source", { orders: ["a"] }, "RD110", "orders"),
  from("a key of 256 bytes", { orders: ["é".repeat(128)] }, "RD110", "orders[0]"),
  consumer("retry for every instance", { delivery: "every-instance" }, "RD112", "retry"),
  consumer("a delivery that is none", { delivery: "everywhere" }, "RD101", "delivery"),
  consumer("an alarm below zero", { deadLetter: { alarmAbove: -1 } }, "RD104", "deadLetter.alarmAbove"),
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
