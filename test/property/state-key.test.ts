import fc from "fast-check";
import { expect, test } from "vitest";

import type {
  BrokerEvent,
  BrokerTopology,
  MessageState,
  Semantics,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsOf, semanticsVersions } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { casesOf } from "../differential/run-batch.ts";

// The proof merges states that behave alike for ever, and comments say why the omitted parts cannot matter. This
// explores random topologies with and without merging. Within any number of steps, both must show the same events.

const events: readonly BrokerEvent[] = [
  { kind: "deliver" },
  { kind: "ack" },
  { kind: "nack", requeue: false },
  { kind: "nack", requeue: true },
  { kind: "reject", requeue: true },
  { kind: "crash" },
  { kind: "modified", deliveryFailed: true, undeliverableHere: false },
  { kind: "consumer-timeout" },
];
const mostSteps = 9;
const mostStepsFannedOut = 11;
/**
 * The events by which messages of a fan-out die for different reasons. The others add nothing to the order of deaths.
 */
const deadly: readonly BrokerEvent[] = [{ kind: "deliver" }, { kind: "nack", requeue: false }, { kind: "crash" }];
/** Without merging, some state spaces are too large. The comparison leaves them out. */
const mostStates = 3_000;

/** Everything visible that has happened within this many steps. Null if there are too many states. */
function reachedIn(
  semantics: Semantics,
  starts: readonly MessageState[],
  keyOf: (state: MessageState) => string,
  steps = mostSteps,
  made = events,
): string[][] | null {
  const seen = new Set<string>();
  const levels: string[][] = [];
  let level = starts;
  for (let step = 0; step < steps; step++) {
    const fresh = level.filter((state) => {
      const key = keyOf(state);
      return !seen.has(key) && seen.add(key);
    });
    if (seen.size > mostStates) return null;
    levels.push([...new Set([...(levels.at(-1) ?? []), ...fresh.map(visible)])].toSorted());
    level = fresh.flatMap((state) =>
      [...made, ...semantics.spontaneousEvents(state)].flatMap((event) => semantics.step(state, event).flat()),
    );
  }
  return levels;
}

function visible({ place, routingKeys }: MessageState): string {
  return JSON.stringify([place, routingKeys]);
}

test.for(semanticsVersions)("on %s states with one key behave alike", (version) => {
  let compared = 0;
  for (const { topology, publication } of casesOf(7, 400, version)) {
    const semantics = semanticsOf(topology, version);
    const starts = semantics.publish(publication).flat();
    const all = reachedIn(semantics, starts, JSON.stringify);
    if (all === null) continue;
    expect(reachedIn(semantics, starts, semantics.behaviourKey), JSON.stringify({ topology, publication })).toEqual(
      all,
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(300);
});

// One work queue dead-letters to several wait queues, and these lead back or on to each other. There are very many
// orders of deaths, and the key keeps few of them. Names are drawn, because some versions sort by them.
const fanOuts: fc.Arbitrary<BrokerTopology> = fc
  .record({
    names: fc.shuffledSubarray(["a", "b", "c", "d", "e"], { minLength: 3, maxLength: 4 }),
    kinds: fc.array(fc.constantFrom("fanout", "direct", "direct"), { minLength: 5, maxLength: 5 }),
    limit: fc.constantFrom(0, 1),
    again: fc.array(fc.constantFrom("work", "others", "all"), { minLength: 5, maxLength: 5 }),
  })
  .map(({ names: [work = "a", ...waits], kinds, limit, again }) => {
    const targets = (from: string, index: number): readonly string[] => {
      if (from === work) return waits;
      if (again[index] === "work") return [work];
      return again[index] === "all" ? [work, ...waits] : [work, waits[(index + 1) % waits.length] ?? work];
    };
    const all = [...waits, work];
    return {
      exchanges: all.map((name, index) => ({
        name,
        kind: kinds[index] === "fanout" ? ("fanout" as const) : ("direct" as const),
        arguments: {},
      })),
      queues: all.map((name) => ({
        name,
        kind: "quorum" as const,
        arguments: {
          "x-dead-letter-exchange": name,
          "x-dead-letter-routing-key": "k",
          "x-delivery-limit": limit,
          ...(name === work ? {} : { "x-message-ttl": 1_000 }),
        },
      })),
      bindings: all.flatMap((name, index) =>
        targets(name, index).map((destination) => ({
          source: name,
          destination,
          destinationKind: "queue" as const,
          routingKey: "k",
          arguments: {},
        })),
      ),
      policies: [],
    };
  });

/** The whole history without counts and routes: a count would make a new state of every round. */
function historyKey(state: MessageState): string {
  return JSON.stringify({
    ...state,
    deliveryCount: Math.min(state.deliveryCount, 5),
    acquiredCount: Math.min(state.acquiredCount, 5),
    firstDeath: null,
    lastDeath: null,
    deaths: state.deaths.map((death) => ({ ...death, count: 1, exchange: "", routingKeys: [] })),
  });
}

test.for(semanticsVersions)("on %s the key keeps every order of deaths that matters", (version) => {
  let compared = 0;
  for (const topology of fc.sample(fanOuts, { seed: 11, numRuns: 24 })) {
    const semantics = semanticsOf(topology, version);
    const work = topology.queues.at(-1)?.name ?? "";
    const starts = semantics.publish({ exchange: "", routingKey: work }).flat();
    const all = reachedIn(semantics, starts, historyKey, mostStepsFannedOut, deadly);
    if (all === null) continue;
    expect(
      reachedIn(semantics, starts, semantics.behaviourKey, mostStepsFannedOut, deadly),
      JSON.stringify(topology),
    ).toEqual(all);
    compared++;
  }
  expect(compared).toBeGreaterThan(10);
});
