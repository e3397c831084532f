import { expect, test } from "vitest";

import { brokers, checkSystem, compile, type CompiledSystem } from "../../src/index.ts";
import { anyNames, anySystem, anyTarget } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

test("of a consumer that is removed every queue is found, with its kind, and none of another system", () => {
  let compared = 0;
  forAll(300, [anySystem, anyNames, anyTarget], (input, names, target) => {
    const compiledOf = (change: object): CompiledSystem<"rabbitmq"> | null => {
      const checked = checkSystem({ ...input, names, ...change });
      const compiled = checked.ok ? compile(checked.value, target) : null;
      return compiled?.ok === true ? compiled.value : null;
    };
    const [removed = "", ...kept] = Object.keys(input.consumers);
    const some = Object.fromEntries(kept.map((each) => [each, input.consumers[each]]));
    const before = compiledOf({});
    const after = compiledOf({ consumers: some });
    // The other system has its own name alone in common with none of this one's queues.
    const other = compiledOf({ name: "yonder", names: { queue: "yonder-{consumer}" } });
    if (before === null || after === null || other === null) return;
    const files = [before, other].map((each) => brokers.rabbitmq.exportFormats["definitions"]?.(each, "/")) as Record<
      string,
      readonly object[]
    >[];
    const merged = Object.fromEntries(
      ["queues", "exchanges", "bindings", "policies"].map((kind) => [kind, files.flatMap((file) => file[kind] ?? [])]),
    );
    const read = brokers.rabbitmq.auditor.file.read(JSON.stringify({ ...files[0], ...merged }));
    if (!read.ok) throw new Error("unreadable");
    const leftovers = brokers.rabbitmq.auditor.leftoversIn(read.value, after);
    const found = leftovers.flatMap(({ kind, name, holds }) => (kind === "queue" ? [`${holds} ${name}`] : []));
    const own = before.topology.queues.filter(({ consumer }) => consumer === removed);
    expect(found).toEqual(expect.arrayContaining(own.map(({ name, role }) => `${role} ${name}`)));
    const theirs = new Set(other.topology.queues.map(({ name }) => name));
    expect(leftovers.filter(({ name }) => theirs.has(name))).toEqual([]);
    const declared = brokers.rabbitmq.auditor.leftoversIn(read.value, before);
    expect(declared.filter(({ kind }) => kind !== "binding")).toEqual([]);
    compared += 1;
  });
  expect(compared).toBeGreaterThan(30);
});
