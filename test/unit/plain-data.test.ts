import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";

import { prepare } from "../../src/consume/consume.ts";
import { plainData } from "../../src/declare/plain-data.ts";
import { checkSystem, compile, parseTarget } from "../../src/index.ts";

const problemsIn = (data: unknown): string[][] => {
  const result = plainData(data);
  return result.ok ? [] : result.diagnostics.map(({ code, path, message }) => [code, path, message]);
};

describe("foreign data is copied, or refused with its place", () => {
  test("data that JSON can express is copied as it is, and a repeated object is not a circle", () => {
    const shared = { kind: "topic" };
    const data = { text: "a", number: 0.5, none: null, left: undefined, list: [1, [], {}], a: shared, b: shared };
    expect(plainData(data)).toEqual({ ok: true, value: data, warnings: [] });
    expect(plainData(data)).not.toHaveProperty(
      "value.a",
      expect.toSatisfy((value) => value === shared),
    );
  });

  const ring: unknown[] = [];
  ring.push(ring);
  let deep: unknown = 1;
  for (let depth = 0; depth < 20_000; depth++) deep = { a: deep };
  const throwing = {
    get b(): never {
      throw Object.create(null) as Error;
    },
  };
  const hidden = new Proxy({}, { getPrototypeOf: () => throwing.b });
  const endless = (): object => Object.defineProperty({}, "a", { enumerable: true, get: endless });
  test.for<readonly [name: string, data: unknown, code: string, path: string, message: string]>([
    ["a ring", { a: ring }, "RD005", "a[0]", "this contains itself"],
    ["20,000 levels", deep, "RD005", "a", "this is nested deeper than 100 levels"],
    ["getters without an end", endless(), "RD005", "a", "this is nested deeper than 100 levels"],
    ["a function", { a: [() => 1] }, "RD005", "a[0]", "a function is no data"],
    ["a Map", { a: new Map([["b", 1]]) }, "RD005", "a", "a Map is no data"],
    ["a Set", { a: new Set(["b"]) }, "RD005", "a", "a Set is no data"],
    ["a Promise", Promise.resolve({ a: 1 }), "RD005", "", "a Promise is no data"],
    ["a Date", { a: new Date(0) }, "RD005", "a", "an object of a class is no data"],
    ["inherited data", { a: Object.create({ b: 1 }) }, "RD005", "a", "an object of a class is no data"],
    ["a prototype that throws", { a: hidden }, "RD005", "a", "this cannot be read"],
    ["a symbol", Symbol("a"), "RD005", "", "a symbol is no data"],
    ["a BigInt", { "a.b": 1n }, "RD005", '["a.b"]', "a BigInt is no data"],
    ["a getter that throws", { a: throwing }, "RD005", "a.b", "this cannot be read"],
    [
      "a long list of holes",
      Object.assign([], { length: 4_294_967_295 }),
      "RD005",
      "",
      "this has 4,294,967,295 entries",
    ],
    ["a hole", Object.assign([1], { length: 2 }), "RD005", "[1]", "this cannot be read"],
    ["__proto__", JSON.parse('{"a":{"__proto__":1}}'), "RD111", "a.__proto__", "__proto__ cannot be a name"],
  ])("%s", ([, data, code, path, message]) => {
    const [first = [], ...others] = problemsIn(data);
    expect([first[0], others]).toEqual([code, []]);
    expect(first[1]?.startsWith(path)).toBe(true);
    expect(first[2]).toContain(message);
  });

  test.each([
    [new Map([["billing", 1]]), "write Object.fromEntries(…) around it"],
    [new Set(["billing"]), "write Array.from(…) around it"],
    [Promise.resolve(1), "write await before it"],
    [() => 1, "call it, or write the data itself"],
  ])("what holds data elsewhere is refused with the way to it: %o", (data, help) => {
    const result = checkSystem({ name: "shop", consumers: data });
    expect(result.ok ? [] : result.diagnostics).toMatchObject([{ code: "RD005", path: "consumers", help }]);
  });

  test("a mapping without a prototype is data, also one of another realm", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    for (const data of [bare, runInNewContext("({ a: 1 })")]) {
      expect(plainData(data)).toMatchObject({ ok: true, value: { a: 1 } });
    }
  });

  test("a Proxy is read once, so its second answer does not matter", () => {
    let reads = 0;
    const proxy = new Proxy({ name: "a" }, { get: () => (reads++ === 0 ? "a" : 1n) });
    expect(plainData(proxy)).toMatchObject({ ok: true, value: { name: "a" } });
    expect(reads).toBe(1);
  });

  test("reading stops at the bound of values and characters", () => {
    const wide = Array.from({ length: 2_000_001 }, () => 1);
    expect(problemsIn([wide, wide])[0]?.[2]).toContain("2,000,001 entries");
    const many = Array.from({ length: 1_000 }, () => 1);
    expect(problemsIn(Array.from({ length: 2_500 }, () => many))[0]?.[2]).toContain("2,000,001 values");
    const long = "x".repeat(1_000_000);
    expect(problemsIn(Array.from({ length: 65 }, () => long))[0]?.[2]).toContain("65,000,000 characters");
  });
});

describe("no entrance relies on the caller's types", () => {
  const shop = { name: "shop", sources: {}, consumers: {} } as const;
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  test.for<readonly [name: string, call: () => unknown, code: string]>([
    ["an unchecked system", () => compile({ ...shop, name: 1 } as never, target), "RD101"],
    ["no system", () => compile(null as never, target), "RD101"],
    ["no target", () => compile(shop as never, undefined as never), "RD201"],
    ["a target without a broker", () => compile(shop as never, { version: "4.3" } as never), "RD201"],
    ["a target that is a part of itself", () => compile(shop as never, ringTarget()), "RD005"],
    [
      "a target with a key toString",
      () => compile(shop as never, { broker: "sqs", region: { toString: 1 } } as never),
      "RD201",
    ],
    ["a target that is no text", () => parseTarget(4.3 as never), "RD201"],
    [
      "a checked target that was changed",
      () => compile(shop as never, { broker: "servicebus", sku: "none", lockMs: -5 } as never),
      "RD201",
    ],
    ["a Proxy", () => checkSystem(new Proxy({}, { ownKeys: () => [1] as never })), "RD005"],
  ])("%s", ([, call, code]) => {
    expect(call()).toMatchObject({
      ok: false,
      diagnostics: expect.arrayContaining([expect.objectContaining({ code })]) as never,
    });
  });

  function ringTarget(): never {
    const ring: Record<string, unknown> = { broker: "rabbitmq", version: "4.3" };
    ring["strategy"] = ring;
    return ring as never;
  }

  test("a consumer's declaration is checked", () => {
    const options = { target, connection: { url: "amqp://127.0.0.1" } };
    for (const system of [null, {}, { consumers: { billing: {} } }]) {
      const prepared = prepare(system as never, "billing", options);
      expect(prepared.ok ? [] : prepared.diagnostics.map(({ code }) => code)).toContain("RD101");
    }
  });

  test("an unchecked declaration is checked first", () => {
    expect(compile(shop as never, target)).toMatchObject({ ok: true });
  });
});
