import type { Model } from "../explore/model.ts";
import type { Exploration, Node } from "../explore/explore.ts";
import { traceTo } from "../explore/explore.ts";
import type { Violation } from "./verify.ts";

/**
 * Whatever happened before, crashes and returns included: what follows the transient failure of an attempt is the next attempt, and
 * never outside of its time: neither before its delay has passed, nor later than its delay with all jitter, if a consumer is there.
 */
export function everyRetry<State>(model: Model<State>, exploration: Exploration<State>): Violation[] {
  for (const node of exploration.nodes.values()) {
    const { situation } = node;
    if (situation.kind !== "handling") continue;
    const { delayMs = 0, delayLatestMs = delayMs } = model.wanted.attempts[situation.attempt] ?? {};
    for (const edge of node.edges) {
      if (edge.cause !== "transient") continue;
      for (const { next, waitedMs, waitedLatestMs } of edge.to.flatMap((to) => nextRuns(exploration, to, 0, 0))) {
        const violation = (property: Violation["property"], message: string): Violation[] => [
          { consumer: model.consumer, property, message, trace: traceTo(model, exploration, next) },
        ];
        const attempt = next.situation.kind === "handling" ? next.situation.attempt : 0;
        if (attempt !== situation.attempt + 1) {
          return violation("attempts", `after the failure of attempt ${situation.attempt} comes attempt ${attempt}`);
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
      }
    }
  }
  return [];
}

/** The runs of the handler that come next, by time and delivery alone, with the shortest and the longest time until each. */
function nextRuns<State>(
  exploration: Exploration<State>,
  index: number,
  waitedMs: number,
  waitedLatestMs: number,
): { readonly next: Node<State>; readonly waitedMs: number; readonly waitedLatestMs: number }[] {
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
