import type { Model } from "../explore/model.ts";
import type { Exploration, Node } from "../explore/explore.ts";
import { type Violation, nodesOf, violationAt } from "./verdict.ts";

/** The next run of the handler, with the shortest and the longest time until then. */
export interface Run<State> {
  readonly next: Node<State>;
  readonly waitedMs: number;
  readonly waitedLatestMs: number;
}

/**
 * Checks the step after each transient failure, after any earlier crashes and returns. It must be the next attempt, and
 * in time: not before its delay. If a consumer is there, it must also come no later than its delay with all jitter.
 * With jitter, the retries must use all of that time.
 */
export function everyRetry<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const { node, situation } of nodesOf(exploration, "handling")) {
    const runs = runsAfterFailure(exploration, node);
    for (const run of runs) {
      const violations = nextRun(model, exploration, situation.attempt, run);
      if (violations.length > 0) return violations;
    }
    const gap = runs.length === 0 ? null : gapIn(model, situation.attempt, runs);
    if (gap === null) continue;
    const message = `after the failure of attempt ${situation.attempt} no wait is between ${gap.fromMs} and ${gap.toMs} ms, though jitter is declared there`;
    return [violationAt(model, exploration, node, "timing", message)];
  }
  return [];
}

function nextRun<State>(
  model: Model<State>,
  exploration: Exploration<State>,
  failed: number,
  { next, waitedMs, waitedLatestMs }: Run<State>,
): Violation[] {
  const { delayMs = 0, delayLatestMs = delayMs } = model.wanted.attempts[failed] ?? {};
  const violation = (property: Violation["property"], message: string): Violation[] => [
    violationAt(model, exploration, next, property, message),
  ];
  const attempt = next.situation.kind === "handling" ? next.situation.attempt : 0;
  if (attempt !== failed + 1)
    return violation("attempts", `after the failure of attempt ${failed} comes attempt ${attempt}`);
  const early = `attempt ${attempt} can come ${waitedMs} ms after the failure before; ${delayMs} ms are declared`;
  if (waitedMs < delayMs) return violation("timing", early);
  if (waitedLatestMs <= delayLatestMs) return [];
  const latest = Number.isFinite(waitedLatestMs) ? `${waitedLatestMs} ms` : "any time";
  const late = `attempt ${attempt} can come ${latest} after the failure before; at most ${delayLatestMs} ms are declared`;
  return violation("timing", late);
}

/**
 * The part of a range of jitter that may stay unused. A wider gap would bring messages that failed together back
 * together.
 */
const widestGap = 1 / 4;

/**
 * Finds a part of the declared time that never brings the next attempt; null if the retries use all of it, from end to
 * end.
 */
function gapIn<State>(
  { wanted }: Model<State>,
  failed: number,
  runs: readonly Run<State>[],
): { readonly fromMs: number; readonly toMs: number } | null {
  const { delayMs = 0, delayLatestMs = delayMs } = wanted.attempts[failed] ?? {};
  const betweenMs = Math.max(wanted.waitGrainMs, Math.ceil((delayLatestMs - delayMs) * widestGap));
  let fromMs = delayMs;
  let allowedMs = wanted.waitGrainMs;
  for (const { waitedMs, waitedLatestMs } of runs.toSorted((a, b) => a.waitedMs - b.waitedMs)) {
    if (waitedMs - fromMs > allowedMs) return { fromMs, toMs: waitedMs };
    fromMs = Math.max(fromMs, waitedLatestMs);
    allowedMs = betweenMs;
  }
  return delayLatestMs - fromMs > wanted.waitGrainMs ? { fromMs, toMs: delayLatestMs } : null;
}

/** The runs of the handler that follow a transient failure in a node. */
export function runsAfterFailure<State>(exploration: Exploration<State>, { edges }: Node<State>): Run<State>[] {
  const failures = edges.filter(({ cause }) => cause === "transient");
  return failures.flatMap((edge) => edge.to.flatMap((to) => nextRuns(exploration, to, 0, 0)));
}

/** The next runs of the handler, without another act of a consumer, with the shortest and the longest time until each. */
function nextRuns<State>(
  exploration: Exploration<State>,
  index: number,
  waitedMs: number,
  waitedLatestMs: number,
): Run<State>[] {
  const node = exploration.nodes.get(index);
  if (node === undefined) return [];
  if (node.situation.kind === "handling") return [{ next: node, waitedMs, waitedLatestMs }];
  return node.edges
    .filter(({ cause }) => cause === "time" || cause === "delivery" || cause === "change")
    .flatMap((edge) =>
      edge.to.flatMap((to) =>
        nextRuns(exploration, to, waitedMs + edge.waitedMs, waitedLatestMs + edge.waitedLatestMs),
      ),
    );
}
