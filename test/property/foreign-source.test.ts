import fc from "fast-check";
import { expect, test } from "vitest";

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
