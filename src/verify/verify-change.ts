import { type Exploration, exploreWithin, restrict, traceTo } from "../explore/explore.ts";
import { mostOnPath } from "../explore/loops.ts";
import { type Model, type Subject, keptCauses } from "../explore/model.ts";
import { skippingSeries } from "../explore/series.ts";
import { type Run, runsAfterFailure } from "./retries.ts";
import { type Violation, proveEachShape } from "./verdict.ts";
import { safety } from "./verify.ts";

/** The proof of a change for one consumer. */
export interface ChangeVerdict {
  readonly consumer: string;
  readonly states: number;
  /** The most attempts of one message, over the whole change. Not a number if a message may be lost or go round. */
  readonly attempts: number;
  /** A message may be lost, stuck, doubled, go round or reach another consumer. */
  readonly unsafe: readonly Violation[];
  /** No message is lost, but a promise about attempts or time holds only after the change. */
  readonly weaker: readonly Violation[];
}

export function verifyChanges<State>(subjects: readonly Subject<State>[]): ChangeVerdict[] {
  const verdicts = proveEachShape(subjects, verifyChange, ({ unsafe }) => unsafe.length === 0);
  // The message of a weaker promise has no names, but that of a loss has.
  return verdicts.map((each) => ({ ...each, weaker: each.weaker.map((violation) => alike(violation, each.consumer)) }));
}

/** The same violation of a consumer that differs only in names. The trace has those of the first one. */
function alike(violation: Violation, consumer: string): Violation {
  if (violation.consumer === consumer) return violation;
  const trace = violation.trace.length === 0 ? [] : [`the same steps as for ${violation.consumer}`];
  return { ...violation, consumer, trace };
}

const bounds = { states: 200_000, keyLength: 200_000_000 };

/**
 * Proves a change for one consumer, with a message in every place that any phase can bring it to.
 *
 * - It is never lost, stuck, doubled or in another consumer's queue, also if consumers break their contracts.
 * - It has no more attempts than the larger of the two declarations, over the whole change.
 * - No retry is earlier than the earlier of the two schedules, or later than the later one.
 *
 * @throws Error if the space is too large to visit
 */
export function verifyChange<State>(model: Model<State>): ChangeVerdict {
  const broken = exploreWithin(model, bounds, skippingSeries(model, "failures"));
  if (!broken.isComplete) throw new Error(`more than ${bounds.states} states of one message of ${model.consumer}`);
  const kept = restrict(broken, new Set([...keptCauses, "change"]));
  const { consumer } = model;
  const states = kept.nodes.size;
  const unsafe = safety(model, broken, kept);
  if (unsafe.length > 0) return { consumer, states, attempts: Number.NaN, unsafe, weaker: [] };
  const attempts = mostOnPath(kept, ({ cause, skipped }) =>
    cause === "transient" || cause === "retry-after" ? 1 + skipped : 0,
  );
  return { consumer, states, attempts, unsafe, weaker: [...moreAttempts(model, attempts), ...otherTimes(model, kept)] };
}

function moreAttempts<State>({ consumer, wanted }: Model<State>, attempts: number): Violation[] {
  if (attempts <= wanted.attempts.length) return [];
  const message = `a message that waits during the change can have ${attempts} attempts; ${wanted.attempts.length} are declared`;
  return [{ consumer, property: "attempts", message, trace: [] }];
}

function otherTimes<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const node of exploration.nodes.values()) {
    const { situation } = node;
    if (situation.kind !== "handling") continue;
    const wanted = model.wanted.attempts[situation.attempt];
    const { delayMs = 0, delayLatestMs = wanted === undefined ? Number.POSITIVE_INFINITY : delayMs } = wanted ?? {};
    const runs = runsAfterFailure(exploration, node);
    const found = runs.find((run) => run.waitedMs < delayMs || run.waitedLatestMs > delayLatestMs);
    if (found === undefined) continue;
    const message = `after the failure of attempt ${situation.attempt}, the next one can come ${timeOf(found, delayMs)}; ${delayMs} to ${delayLatestMs} ms are declared`;
    const next = `the next attempt: ${model.describe(found.next.state)}`;
    return [
      {
        consumer: model.consumer,
        property: "timing",
        message,
        trace: [...traceTo(model, exploration, node), next],
      },
    ];
  }
  return [];
}

function timeOf(
  { waitedMs, waitedLatestMs }: Pick<Run<unknown>, "waitedMs" | "waitedLatestMs">,
  delayMs: number,
): string {
  if (waitedMs < 0) return `${-waitedMs} ms before the end of the handler's time`;
  return waitedMs < delayMs ? `${waitedMs} ms later` : `as late as ${waitedLatestMs} ms later`;
}
