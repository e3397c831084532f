import fc from "fast-check";
import { expect, test } from "vitest";

import { differencesIn } from "../../src/brokers/rabbitmq/compile/differences.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

test("with sources of other owners a system compiles to the same, but for their names and their owner", () => {
  let compared = 0;
  forAll(100, [anySystem, anyTarget], (input, target) => {
    const checked = checkSystem(input);
    fc.pre(checked.ok);
    if (!checked.ok) return;
    const { name: system, sources } = checked.value;
    const own = compile(checked.value, target);
    const names = new Map(Object.keys(sources).map((source, index) => [source, `events-${index}-of-others`]));
    const entries = Object.entries(sources).map(([source, { kind }]) => {
      return [source, { kind, name: names.get(source), owner: "other" }] as const;
    });
    const renamed = checkSystem({ ...checked.value, sources: Object.fromEntries(entries) });
    if (!own.ok || !renamed.ok) return;
    const other = compile(renamed.value, target);
    expect(other.ok).toBe(true);
    if (!other.ok) return;
    let text = JSON.stringify(other.value).replaceAll(',"owner":"other"', "");
    for (const [source, name] of names)
      text = text.replaceAll(name, () => JSON.stringify(`${system}.${source}`).slice(1, -1));
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(own.value)));
    compared += 1;
  });
  expect(compared).toBeGreaterThan(10);
});

const anyValue = fc.oneof(fc.string(), fc.integer(), fc.boolean());
// A declaration with the key __proto__ is refused.
const anyArgument = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 255 }).filter((name) => name !== "__proto__") },
  fc.constantFrom("valueOf", "constructor", "hasOwnProperty"),
);
const anyArguments = fc.dictionary(anyArgument, anyValue, { maxKeys: 5 });

test("an argument is a difference exactly if it is declared and has another value", () => {
  let compared = 0;
  forAll(200, [anyArguments, anyArguments, fc.nat()], (given, more, choice) => {
    const sources = { orders: { kind: "topic", name: "events", owner: "other", arguments: given } };
    const checked = checkSystem({ name: "shop", sources, consumers: {} });
    if (!checked.ok) throw new Error("it is refused");
    const compiled = compile<"rabbitmq">(checked.value, { broker: "rabbitmq", version: "4.3" });
    if (!compiled.ok) throw new Error("it does not compile");
    const differencesTo = (there: object): readonly unknown[] => {
      const exchange = { kind: "topic", arguments: there as Readonly<Record<string, unknown>>, policy: null };
      const found = { queues: new Map(), exchanges: new Map([["events", exchange]]), bindings: [] };
      return differencesIn(compiled.value.topology, found).flatMap(({ settings }) => settings);
    };
    const there = { ...more, ...given };
    expect(differencesTo(there)).toEqual([]);
    const keys = Object.keys(given);
    const key = keys[choice % keys.length];
    if (key === undefined) return;
    const { [key]: declared, ...rest } = there;
    expect(differencesTo(rest)).toEqual([{ key, declared, deployed: undefined }]);
    expect(differencesTo({ ...rest, [key]: [declared] })).toEqual([{ key, declared, deployed: [declared] }]);
    compared += 1;
  });
  expect(compared).toBeGreaterThan(50);
});
