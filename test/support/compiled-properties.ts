import { expect } from "vitest";

import type { Checked, Graph } from "../../src/index.ts";

/** A compiled system is the same from an equal input, frozen, and survives JSON. */
export function expectSameAgain(compiled: object, again: Checked<object>): void {
  expect(again.ok && JSON.stringify(again.value)).toBe(JSON.stringify(compiled));
  expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  expectFrozen(compiled);
}

function expectFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (!Object.isFrozen(value)) throw new Error(`not frozen: ${JSON.stringify(value).slice(0, 200)}`);
  Object.values(value).forEach(expectFrozen);
}

/** Each queue is drawn once, and every edge has two ends and a label. */
export function expectDrawn({ nodes, edges }: Graph, queues: readonly { readonly name: string }[]): void {
  const ids = new Set(nodes.map((node) => node.id));
  const drawn = nodes.flatMap(({ id, joined = [id] }) => joined);
  expect(drawn).toEqual([...new Set(drawn)]);
  for (const { name } of queues) expect(drawn).toContain(name);
  for (const edge of edges) {
    expect(ids).toContain(edge.from);
    expect(ids).toContain(edge.to);
    expect(edge.label).not.toBe("");
  }
}
