import type { Model } from "../explore/model.ts";
import type { Exploration, Node } from "../explore/explore.ts";
import { traceTo } from "../explore/explore.ts";
import type { Violation } from "./verify.ts";

/** A run of the handler that comes next, with the shortest and the longest time until then. */
interface Run<State> {
  readonly next: Node<State>;
  readonly waitedMs: number;
  readonly waitedLatestMs: number;
}

/**
 * Whatever happened before, crashes and returns included: what follows the transient failure of an attempt is the next attempt, and
 * never outside of its time: neither before its delay has passed, nor later than its delay with all jitter, if a consumer is there. And
 * where there is jitter, all of that time is made use of.
 */
export function everyRetry<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const node of exploration.nodes.values()) {
    const { situation } = node;
    if (situation.kind !== "handling") continue;
    const runs = node.edges
      .filter(({ cause }) => cause === "transient")
      .flatMap((edge) => edge.to.flatMap((to) => nextRuns(exploration, to, 0, 0)));
    for (const run of runs) {
      const violations = nextRun(model, exploration, situation.attempt, run);
      if (violations.length > 0) return violations;
    }
    const gap = runs.length === 0 ? null : gapIn(model, situation.attempt, runs);
    if (gap === null) continue;
    const message = `after the failure of attempt ${situation.attempt} no wait is between ${gap.fromMs} and ${gap.toMs} ms, though jitter is declared there`;
    return [{ consumer: model.consumer, property: "timing", message, trace: traceTo(model, exploration, node) }];
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
    { consumer: model.consumer, property, message, trace: traceTo(model, exploration, next) },
  ];
  const attempt = next.situation.kind === "handling" ? next.situation.attempt : 0;
  if (attempt !== failed + 1) {
    return violation("attempts", `after the failure of attempt ${failed} comes attempt ${attempt}`);
  }
  if (waitedMs < delayMs) {
    return violation(
      "timing",
      `attempt ${attempt} can come ${waitedMs} ms after the failure before; ${delayMs} ms are declared`,
    );
  }
  if (waitedLatestMs > delayLatestMs) {
    const latest = Number.isFinite(waitedLatestMs) ? `${waitedLatestMs} ms` : "any time";
    return violation(
      "timing",
      `attempt ${attempt} can come ${latest} after the failure before; at most ${delayLatestMs} ms are declared`,
    );
  }
  return [];
}

/** The part of a range of jitter that may be without a wait, so that failures that happened together do not come back together. */
const widestGap = 1 / 4;

/** A part of the declared time in which the next attempt never comes; null where all of it is made use of, from one end to the other. */
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

/** The runs of the handler that come next, by time and delivery alone, with the shortest and the longest time until each. */
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
    .filter(({ cause }) => cause === "time" || cause === "delivery")
    .flatMap((edge) =>
      edge.to.flatMap((to) =>
        nextRuns(exploration, to, waitedMs + edge.waitedMs, waitedLatestMs + edge.waitedLatestMs),
      ),
    );
}
