import type { Cause } from "../../../../explore/model.ts";
import type { Node } from "../../../../explore/explore.ts";
import type { EffectiveSettings, MessageState } from "../../prove/semantics.ts";
import type { Explored } from "./way.ts";

/** The behaviours of a consumer that always does the same: it rejects, returns, or goes away. */
const behaviours = ["transient", "return", "crash"] as const;
export type Behaviour = (typeof behaviours)[number];

/** The fate of a queue's message under each simple behaviour of its consumer. */
export type Profile = ReturnType<typeof profileOf>;

/** The end of a message, with the number of deliveries if a limit causes the end. */
export type Fate =
  | { readonly end: "deleted"; readonly deliveries: number | null }
  | { readonly end: "kept" | "dead-lettered"; readonly queue: string | null; readonly deliveries: number | null }
  | { readonly end: "stays"; readonly queue: string | null }
  | { readonly end: "comes back"; readonly isDelayed: boolean };

/** A behaviour under which an upgrade changes the end of a message. */
export type FateChange = ReturnType<typeof changedFates>[number];

export function changedFates(now: Profile, then: Profile | undefined) {
  if (then === undefined) return [];
  return behaviours
    .map((behaviour) => ({ behaviour, before: now.fates[behaviour], after: then.fates[behaviour] }))
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

const behaviourWords: Readonly<Record<Behaviour, string>> = {
  transient: "always rejected without requeue",
  return: "always returned with basic.nack and requeue",
  crash: "whose consumer always crashes with it",
};

export function fateChangeText({ behaviour, before, after }: FateChange, from: string, to: string): string {
  return `a message ${behaviourWords[behaviour]}: ${from}: ${fateText(before)}; ${to}: ${fateText(after)}`;
}

function fateText(fate: Fate): string {
  if (fate.end === "stays") return `it stays in ${fate.queue}`;
  if (fate.end === "comes back")
    return fate.isDelayed ? "it comes back for ever, with delays" : "it comes back at once, for ever";
  const { deliveries } = fate;
  const times =
    deliveries === null ? "it is " : `after ${deliveries === 1 ? "1 delivery" : `${deliveries} deliveries`} it is `;
  switch (fate.end) {
    case "deleted":
      return `${times}deleted`;
    case "kept":
      return `${times}kept inside of ${fate.queue} for ever`;
    case "dead-lettered":
      return `${times}dead-lettered to ${fate.queue}`;
    default:
      return fate satisfies never;
  }
}

/** Finds the fate in the long run under each simple behaviour of the consumer. */
export function profileOf(explored: Explored, { deliveryLimit }: EffectiveSettings) {
  const fate = (behaviour: Behaviour): Fate => fateOf(explored, deliveryLimit, behaviour);
  const fates = { transient: fate("transient"), return: fate("return"), crash: fate("crash") };
  return { queue: explored.model.consumer, fates };
}

function fateOf(explored: Explored, deliveryLimit: number | null, behaviour: Behaviour): Fate {
  const { model, surroundings } = explored;
  const { nodes, starts } = explored.exploration;
  const deliveries = deliveryLimit === null || behaviour === "transient" ? null : deliveryLimit + 1;
  const seen = new Set<number>();
  let isWaiting = false;
  let node = nodes.get(starts[0]?.nodes[0] ?? -1);
  while (node !== undefined && !seen.has(node.index)) {
    seen.add(node.index);
    const { place } = node.state;
    if (place.kind === "lost") return { end: "deleted", deliveries };
    if (place.kind === "queue" && place.status === "retained") return { end: "kept", queue: place.queue, deliveries };
    const { situation } = node;
    const at = model.placeOf(node.state);
    // The audit of another consumer's queue reports the fate of a message there.
    const isOthers = at !== null && at !== model.consumer && surroundings.shapeOf(at) === "work";
    if (situation.kind === "dead" || isOthers) return { end: "dead-lettered", queue: at, deliveries };
    const wanted: Cause = situation.kind === "work" ? "delivery" : situation.kind === "handling" ? behaviour : "time";
    const edge = node.edges.find(({ cause }) => cause === wanted);
    if (edge === undefined) return { end: "stays", queue: at };
    isWaiting ||= edge.waitedMs > 0;
    const next: Node<MessageState> | undefined = nodes.get(edge.to[0] ?? -1);
    node = next;
  }
  return { end: "comes back", isDelayed: isWaiting };
}
