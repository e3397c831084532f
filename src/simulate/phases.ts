import { parseDurationMs } from "../declare/duration.ts";
import type { Outage, Phase } from "./scenario.ts";
import type { EventInput } from "./scenario-schema.ts";

/**
 * Cuts time where an event begins or ends. Of two outages at the same time the one that stands first counts; bursts at the
 * same time multiply.
 *
 * @param events those that are for one consumer
 */
export function phasesOf(events: readonly EventInput[]): readonly Phase[] {
  const timed = events.map((event) => ({
    event,
    fromMs: parseDurationMs(event.from),
    toMs: parseDurationMs(event.to),
  }));
  const cuts = new Set([0, ...timed.flatMap(({ fromMs, toMs }) => [fromMs, toMs])]);
  return [...cuts]
    .toSorted((a, b) => a - b)
    .map((fromMs): Phase => {
      const current = timed.filter((each) => each.fromMs <= fromMs && fromMs < each.toMs).map(({ event }) => event);
      return {
        fromMs,
        arrivalFactor: current.reduce((product, event) => product * (event.kind === "burst" ? event.factor : 1), 1),
        isStopped: current.some(({ kind }) => kind === "stopped"),
        outage: outageOf(current),
      };
    });
}

function outageOf(events: readonly EventInput[]): Outage | null {
  for (const event of events) {
    if (event.kind !== "outage") continue;
    return {
      outcome: event.outcome ?? "transient",
      failsAfterMs: event.failsAfter === undefined ? null : parseDurationMs(event.failsAfter),
    };
  }
  return null;
}
