import { expect, test } from "vitest";

import type { BrokerEvent, MessageState, Semantics } from "../../src/brokers/rabbitmq/semantics.ts";
import { semanticsOf, semanticsVersions, stateKey } from "../../src/brokers/rabbitmq/semantics.ts";
import { casesOf } from "../differential/run-batch.ts";

// The proof merges states that behave alike for ever, and says in words why what it leaves out cannot matter. Here random topologies are
// explored twice, with and without merging: within any number of steps the same has to happen.

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
/** Without merging some spaces are too large to be gone through; these are left out of the comparison. */
const mostStates = 3_000;

/** What has happened after so many steps, as far as anybody can see it; null where there is too much of it. */
function reachedIn(
  semantics: Semantics,
  starts: readonly MessageState[],
  keyOf: (state: MessageState) => string,
): string[][] | null {
  const seen = new Set<string>();
  const levels: string[][] = [];
  let level = starts;
  for (let step = 0; step < mostSteps; step++) {
    const fresh = level.filter((state) => {
      const key = keyOf(state);
      return !seen.has(key) && seen.add(key);
    });
    if (seen.size > mostStates) return null;
    levels.push([...new Set([...(levels.at(-1) ?? []), ...fresh.map(visible)])].toSorted());
    level = fresh.flatMap((state) =>
      [...events, ...semantics.spontaneousEvents(state)].flatMap((event) => semantics.step(state, event).flat()),
    );
  }
  return levels;
}

function visible({ place, routingKeys }: MessageState): string {
  return JSON.stringify([place, routingKeys]);
}

test.for(semanticsVersions)("on %s merged states behave alike", (version) => {
  let compared = 0;
  for (const { topology, publication } of casesOf(7, 400, version)) {
    const semantics = semanticsOf(topology, version);
    const starts = semantics.publish(publication).flat();
    const all = reachedIn(semantics, starts, stateKey);
    if (all === null) continue;
    expect(reachedIn(semantics, starts, semantics.behaviourKey), JSON.stringify({ topology, publication })).toEqual(
      all,
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(300);
});
