import { isDeepStrictEqual } from "node:util";

import { type Edge, type Exploration, type Node, exploreWithin } from "../explore/explore.ts";
import type { Model, Subject } from "../explore/model.ts";
import { skippingSeries } from "../explore/series.ts";
import { verify } from "./verify.ts";

/** The effect of a change on a system's messages, the worst one last. */
export const effects = ["harmless", "otherwise", "loss"] as const;
export type Effect = (typeof effects)[number];

export interface Judgement {
  readonly effect: Effect;
  /** The consumers whose messages have that effect; empty if it is harmless. */
  readonly consumers: readonly string[];
  /** The effect in half a sentence, for the first of these consumers; empty if it is harmless. */
  readonly reason: string;
  /** The shortest path that shows it. */
  readonly trace: readonly string[];
}

export const harmless: Judgement = Object.freeze({ effect: "harmless", consumers: [], reason: "", trace: [] });

/** The limit of states for one consumer. A changed topology can have any size, and real ones have some hundred. */
const mostStates = 100_000;

/**
 * Judges changed systems by the proof of the declared one.
 *
 * - `loss`: the proof finds a path on which a message is lost.
 * - `otherwise`: another promise is broken, or a message takes another course than declared.
 * - `harmless`: every message has the same course, under every behaviour of the consumers.
 *
 * @param declared the consumers as they are declared, and proved
 */
export function judgeAgainst<State>(
  declared: readonly Subject<State>[],
): (changed: readonly Subject<State>[]) => Judgement {
  const before = new Map(declared.map((subject) => [subject.consumer, { subject, shape: subject.shape() }]));
  return (changed) => {
    const known = new Map<string, Omit<Judgement, "consumers">>();
    const all = changed.flatMap((subject) => {
      const own = before.get(subject.consumer);
      const shape = subject.shape();
      if (own === undefined || own.shape === shape) return [];
      // Consumers that differ only in names have one judgement, as they have one proof.
      const key = JSON.stringify([own.shape, shape]);
      const judged = known.get(key) ?? judge(own.subject.model(), subject.model());
      known.set(key, judged);
      return [{ ...judged, consumer: subject.consumer }];
    });
    const effect = effects.findLast((each) => all.some((judged) => judged.effect === each)) ?? "harmless";
    const [first, ...more] = all.filter((judged) => judged.effect === effect);
    if (first === undefined || effect === "harmless") return harmless;
    const { consumer, reason, trace } = first;
    return { effect, consumers: [consumer, ...more.map((each) => each.consumer)], reason, trace };
  };
}

function judge<State>(before: Model<State>, changed: Model<State>): Omit<Judgement, "consumers"> {
  const { flaws = [], ...after } = changed;
  const explored = exploreWithin(after, { states: mostStates, keyLength: Infinity }, skippingSeries(after));
  if (!explored.isComplete)
    return { effect: "otherwise", reason: "its messages have more courses than can be judged", trace: [] };
  const { violations } = verify(after, () => explored);
  const loss = violations.find(({ property }) => property === "no-loss");
  if (loss !== undefined) return { effect: "loss", reason: loss.message, trace: loss.trace };
  const [violation] = violations;
  if (violation !== undefined) return { effect: "otherwise", reason: violation.message, trace: violation.trace };
  const [flaw] = flaws;
  if (flaw !== undefined) return { effect: "otherwise", reason: flaw, trace: [] };
  const course = exploreWithin(before, { states: Infinity, keyLength: Infinity }, skippingSeries(before));
  const reason = otherCourse(before, course, explored);
  return reason === null ? harmless : { effect: "otherwise", reason, trace: [] };
}

/**
 * Walks through both systems side by side, from each start and by the same events. Both list their events in one order.
 * The numbers of states may differ, because one system may tell states apart that the other need not.
 *
 * @returns the first event with another end, with both ends; null if there is none
 */
function otherCourse<State>(
  { describe }: Model<State>,
  before: Exploration<State>,
  after: Exploration<State>,
): string | null {
  const open: (readonly [Node<State>, Node<State>])[] = [];
  const seen = new Set<string>();
  const visit = (left: readonly number[], right: readonly number[]): void => {
    for (const [at, index] of left.entries()) {
      const key = `${index} ${right[at]}`;
      const pair = [before.nodes.get(index), after.nodes.get(right[at] ?? -1)] as const;
      if (seen.has(key) || pair[0] === undefined || pair[1] === undefined) continue;
      seen.add(key);
      open.push(pair as readonly [Node<State>, Node<State>]);
    }
  };
  const endOf = ({ nodes }: Exploration<State>, edge: Edge | undefined): string => {
    if (edge === undefined) return "nothing";
    const places = edge.to.flatMap((index) => nodes.get(index) ?? []).map(({ state }) => describe(state));
    return `${edge.label}: ${places.join(" and ")}${waitedText(edge)}`;
  };
  for (const [at, { nodes }] of before.starts.entries()) visit(nodes, after.starts[at]?.nodes ?? []);
  for (const [left, right] of open) {
    if (!isDeepStrictEqual(left.situation, right.situation))
      return `declared is ${describe(left.state)}; deployed is ${describe(right.state)}`;
    for (let at = 0; at < Math.max(left.edges.length, right.edges.length); at += 1) {
      const [was, is] = [left.edges[at], right.edges[at]];
      if (!isDeepStrictEqual(eventOf(was), eventOf(is)))
        return `${describe(left.state)}: declared is ${endOf(before, was)}; deployed is ${endOf(after, is)}`;
      visit(was?.to ?? [], is?.to ?? []);
    }
  }
  return null;
}

function waitedText({ waitedMs, waitedLatestMs }: Edge): string {
  if (waitedLatestMs !== waitedMs) return ` after ${waitedMs} to ${waitedLatestMs} ms`;
  return waitedMs === 0 ? "" : ` after ${waitedMs} ms`;
}

function eventOf(edge: Edge | undefined): unknown {
  if (edge === undefined) return null;
  const { cause, waitedMs, waitedLatestMs, skipped, to } = edge;
  return { cause, waitedMs, waitedLatestMs, skipped, copies: to.length };
}
