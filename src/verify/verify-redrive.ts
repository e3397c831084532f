import { type Exploration, exploreWithin, restrict } from "../explore/explore.ts";
import { mostOnPath } from "../explore/loops.ts";
import { type Model, keptCauses } from "../explore/model.ts";
import { type RedriveContract, type Redriven, redriveContract, withRedrives } from "../explore/redrives.ts";
import { skippingSeries } from "../explore/series.ts";
import { type Violation, violationAt } from "./verdict.ts";
import { safety, verify } from "./verify.ts";

/** The proof that a consumer's dead letters can be sent again. */
export interface RedriveVerdict {
  readonly consumer: string;
  readonly states: number;
  /** The most attempts of one letter that is sent again once. Not a number if a violation leaves them open. */
  readonly attempts: number;
  readonly violations: readonly Violation[];
}

const bounds = { states: 1_000_000, keyLength: 1_000_000_000 };

/**
 * Proves redrives of a consumer's dead letters, with a crash at every step, again and again.
 *
 * - No letter is lost, and none reaches another consumer, also if consumers break their contracts.
 * - Each copy arrives in the work queue, as a first attempt.
 * - The generations end: a letter that dies again and again stays at last.
 * - Each promise about a published message holds for a letter that is sent again. In a change, `verifyChange` says which
 *   of them hold, so this is left out.
 *
 * @throws Error if the space is too large to visit
 */
export function verifyRedrive<State>(model: Model<State>, contract: RedriveContract = redriveContract): RedriveVerdict {
  const redriven = withRedrives(model, contract);
  const broken = exploreWithin(redriven, bounds, skippingSeries(redriven, "failures"));
  if (!broken.isComplete) throw new Error(`more than ${bounds.states} states of one letter of ${model.consumer}`);
  const kept = restrict(broken, new Set([...keptCauses, "change"]));
  // A redrive that waits for an answer can give its letter back.
  const found = [...arrivals(redriven, broken), ...safety(redriven, broken, kept, ["time", "return"])];
  const { consumer } = model;
  const states = broken.nodes.size;
  if (found.length > 0) return { consumer, states, attempts: Number.NaN, violations: found };
  const isInChange = [...broken.nodes.values()].some(({ edges }) => edges.some(({ cause }) => cause === "change"));
  const violations = isInChange ? [] : verify({ ...model, starts: copiesIn(model, broken) }).violations;
  const all = mostOnPath(kept, ({ cause, skipped }) =>
    cause === "transient" || cause === "retry-after" ? 1 + skipped : 0,
  );
  return { consumer, states, attempts: all / (1 + contract.generations), violations };
}

/** The same model, with the copies of dead letters in place of published messages. */
export function redrivenModel<State>(model: Model<State>): Model<State> {
  const redriven = withRedrives(model, { ...redriveContract, generations: 1 });
  return { ...model, starts: copiesIn(model, exploreWithin(redriven, bounds, skippingSeries(redriven))) };
}

/** A copy has to arrive in the work queue, and nowhere else, as a first attempt. */
function arrivals<State>(model: Model<Redriven<State>>, exploration: Exploration<Redriven<State>>): Violation[] {
  const { nodes } = exploration;
  for (const { state, edges } of nodes.values()) {
    if (state.kind !== "held") continue;
    for (const index of edges.filter(({ cause }) => cause === "time").flatMap(({ to }) => to)) {
      const node = nodes.get(index);
      if (node === undefined || node.state.kind === "held") continue;
      const { situation } = node;
      const violation = (property: "isolation" | "attempts", message: string): Violation[] => [
        violationAt(model, exploration, node, property, message),
      ];
      if (situation.kind !== "work")
        return violation("isolation", `a redrive sends a copy to ${model.placeOf(node.state) ?? "no queue"}`);
      if (situation.attempt !== 1)
        return violation("attempts", `a redriven message begins with attempt ${situation.attempt}`);
    }
  }
  return [];
}

/** One copy for each kind of dead letter. */
function copiesIn<State>(model: Model<State>, { nodes }: Exploration<Redriven<State>>): Model<State>["starts"] {
  const copies = new Map<string, { readonly key: string; readonly states: readonly State[] }>();
  for (const { state, edges } of nodes.values()) {
    if (state.kind !== "held" || edges.length === 0) continue;
    const states = model.resend?.(state.at) ?? [];
    copies.set(states.map(model.keyOf).join("\u0004"), { key: "a copy of a dead letter", states });
  }
  return [...copies.values()];
}
