import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { brokers, compileAndProve, type CompiledSystem, type Topology } from "../../src/index.ts";
import type { Adopted } from "../../src/migrate/adopt.ts";
import type { System } from "../../src/declare/system.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";
import { binding, deadThrough, exchange, exported, queue } from "../support/known-topologies.ts";
import { adopting, adoptText } from "../support/reported-by-adopt.ts";

/** The resources in one order, without the roles that only a compiler knows. */
function resourcesOf({ queues, exchanges, bindings, policies }: Topology): readonly string[] {
  const all = [
    ...queues.map(({ name, arguments: given }) => ({ name, given })),
    ...exchanges.map(({ name, kind, owner, arguments: given }) => ({ name, kind, owner, given })),
    ...bindings,
    ...policies,
  ];
  return all.map((each) => JSON.stringify(each)).toSorted();
}

/** Adopts the definitions file of a compiled system. */
function adoptExported(compiled: CompiledSystem<"rabbitmq">): Adopted {
  const exported = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/");
  return adoptText(JSON.stringify(exported), compiled.target);
}

test("each compiled system comes back as it was, or the adoption names the queues whose policy is a guess", () => {
  const counts = { same: 0, guessed: 0 };
  fc.assert(
    fc.property(anySystem, anyTarget, (input, target) => {
      const proved = compileAndProve<"rabbitmq">(checked(input), target);
      if (!proved.ok) return;
      const { compiled } = proved.value;
      const adopted = adoptExported(compiled);
      expect(adopted.draft.system.name).toBe(compiled.topology.system);
      expect(Object.keys(adopted.draft.system.consumers).toSorted()).toEqual(Object.keys(input.consumers).toSorted());
      const wanted = resourcesOf(compiled.topology);
      const isSame = isDeepStrictEqual(resourcesOf(adopted.proved.compiled.topology as Topology), wanted);
      counts[isSame ? "same" : "guessed"]++;
      // The broker alone carries out these strategies, so all of their policy is on it.
      const isWhole = (strategy: string): boolean =>
        compiled.contracts.every(
          (each) => each.strategy === strategy && (strategy === "staged" || each.attempts.length > 1),
        );
      // These may fit no strategy, so the adoption leaves the choice to a person.
      const isLeftToPeople = /"consumerTimeout/.test(JSON.stringify(input));
      if (!isLeftToPeople && (isWhole("staged") || isWhole("native")))
        expect(resourcesOf(adopted.proved.compiled.topology as Topology)).toEqual(wanted);
      if (isSame) return;
      const places = new Set([compiled.topology.system, ...compiled.contracts.map(({ workQueue }) => workQueue)]);
      expect(adopted.unsaid.filter(({ place }) => places.has(place))).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
  expect(Math.min(counts.same, counts.guessed)).toBeGreaterThan(3);
});

const names = {
  exchanges: ["orders", "events", "orders.retry", "dlx"],
  queues: ["billing", "mail", "billing.dlq", "wait"],
};
const kinds = ["direct", "topic", "fanout"];

/** A topology of a few resources that lead anywhere. */
const anyParts = fc.record({
  kinds: fc.tuple(...names.exchanges.map(() => fc.constantFrom(...kinds))),
  queues: fc.tuple(
    ...names.queues.map(() =>
      fc.record({
        into: fc.option(fc.constantFrom("", ...names.exchanges)),
        key: fc.option(fc.constantFrom("a", ...names.queues)),
        ttlMs: fc.option(fc.constantFrom(1_000, 60_000), { freq: 2 }),
      }),
    ),
  ),
  bindings: fc.uniqueArray(
    fc.tuple(
      fc.constantFrom(...names.exchanges),
      fc.constantFrom(...names.queues),
      fc.constantFrom("a", "b", "#", ...names.queues),
    ),
    { maxLength: 10, selector: (each) => each.join(" ") },
  ),
});

test("each exchange that is bound to an adopted queue is its source, unless it is named for letters", () => {
  const counts = { declared: 0, forLetters: 0 };
  fc.assert(
    fc.property(anyParts, (parts) => {
      const text = exported({
        exchanges: names.exchanges.map((name, at) => exchange(name, parts.kinds[at] ?? "topic")),
        queues: names.queues.map((name, at) => {
          const { into = null, key = null, ttlMs = null } = parts.queues[at] ?? {};
          const dying = into === null ? {} : deadThrough(into, key ?? undefined);
          return queue(name, {
            "x-queue-type": "quorum",
            ...dying,
            ...(ttlMs === null ? {} : { "x-message-ttl": ttlMs }),
          });
        }),
        bindings: parts.bindings.map(([source, destination, key]) => binding(source, destination, key)),
      });
      const adopted = adopting({ kind: "adopt", text }, "rabbitmq@4.3", "shop");
      if (!adopted.ok) return;
      const { draft, proved } = adopted.value;
      const { sources = {}, consumers } = draft.system as unknown as System;
      for (const { consumer, workQueue } of proved.compiled.contracts) {
        const said = Object.keys(consumers[consumer]?.from ?? {}).map((key) => sources[key]?.name ?? key);
        for (const [source] of parts.bindings.filter(([, destination]) => destination === workQueue)) {
          const isForLetters = ["orders.retry", "dlx"].includes(source);
          counts[isForLetters ? "forLetters" : "declared"] += 1;
          if (!isForLetters) expect(said, `${workQueue} from ${source}`).toContain(source);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(counts.declared).toBeGreaterThan(100);
  expect(counts.forLetters).toBeGreaterThan(100);
});
