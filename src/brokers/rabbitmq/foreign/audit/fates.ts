import type { Edge, Node, Step } from "../../../../explore/explore.ts";
import { findCycles, loopThrough } from "../../../../explore/loops.ts";
import type { DeathReason, MessageState } from "../../prove/semantics.ts";
import type { QueueFinding } from "./sentences.ts";
import { straysOf } from "./strays.ts";
import { type Explored, type Loop, loopOf, wayTo } from "./way.ts";

/** Finds the possible fates of one queue's messages. The exploration has every way that a message can take. */
export function fatesOf(explored: Explored): QueueFinding[] {
  return [...losses(explored), ...loops(explored), ...straysOf(explored)];
}

/** One finding for each queue that loses messages, and each cause of loss. */
function losses(explored: Explored): QueueFinding[] {
  const found = new Map<string, { readonly node: Node<MessageState>; readonly reasons: Set<DeathReason> }>();
  for (const node of explored.exploration.nodes.values()) {
    const { place } = node.state;
    const isKept = place.kind === "queue" && place.status === "retained";
    if (!isKept && place.kind !== "lost") continue;
    const { cause, queue, reason } = place;
    // `configuredBadly` reports a dead-letter exchange that is not set or does not exist.
    if (queue === null || reason === null || cause === "no-dead-letter-exchange" || cause === "missing-exchange")
      continue;
    const key = `${queue}\u0000${cause}\u0000${isKept}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { node, reasons: new Set([reason]) });
    else known.reasons.add(reason);
  }
  return [...found.values()].map(({ node, reasons }) => lossOf(explored, node, [...reasons]));
}

function lossOf(explored: Explored, node: Node<MessageState>, reasons: readonly DeathReason[]): QueueFinding {
  const { model } = explored;
  const { place } = node.state;
  const queue = "queue" in place ? (place.queue ?? model.consumer) : model.consumer;
  const isKept = place.kind === "queue";
  const evidence = { reasons, isKept, way: wayTo(explored, node) };
  const cause = "cause" in place ? place.cause : null;
  if (cause === "cycle") return { code: "RD413", subject: queue, facts: { isConfirmed: true }, evidence };
  if (cause === "unconfirmed") return { code: "RD413", subject: queue, facts: { isConfirmed: false }, evidence };
  if (!isKept && cause === "target-full") return { code: "RD436", subject: queue, facts: {}, evidence };
  return { code: "RD412", subject: queue, facts: {}, evidence };
}

/** Finds messages that circulate for ever. Each queue gets at most one finding for each cause. */
function loops(explored: Explored): QueueFinding[] {
  const { model, semantics } = explored;
  const isUnlimited = ({ state }: Node<MessageState>): boolean =>
    (semantics.settings(model.placeOf(state) ?? "")?.deliveryLimit ?? null) === null;
  const isOfRetries = ({ cause }: Edge): boolean => ["time", "delivery", "transient"].includes(cause);
  const byThemselves = loopsOf(
    explored,
    (node, { cause }) =>
      // Without a limit a requeued message comes back for ever. The settings already show that.
      cause === "time" || cause === "delivery" || (cause === "crash" && !isUnlimited(node)),
  );
  const rejected = loopsOf(explored, (_node, edge) => isOfRetries(edge));
  const atOnce = loopsOf(explored, (_node, edge) => isOfRetries(edge) && edge.waitedMs === 0);
  const told = (loop: readonly Step<MessageState>[]): { readonly loop: Loop } => ({ loop: loopOf(explored, loop) });
  const endless = (loops: typeof atOnce, isRejected: boolean): QueueFinding[] =>
    [...loops].map(([subject, loop]) => ({ code: "RD414", subject, facts: { isRejected }, evidence: told(loop) }));
  return [
    ...endless(byThemselves, false),
    ...endless(atOnce, true),
    ...[...rejected]
      .filter(([queue]) => !atOnce.has(queue))
      .map(([subject, loop]): QueueFinding => ({ code: "RD416", subject, facts: {}, evidence: told(loop) })),
  ];
}

/**
 * The loops whose moves `admits` allows, each with the queue that reports it. That is the audited queue, if it is
 * consumed and in the loop. Otherwise it is the first consumed queue of the loop. In a loop of wait queues alone it is
 * the first of them.
 */
function loopsOf(
  { model, exploration, surroundings: { shapeOf } }: Explored,
  admits: (node: Node<MessageState>, edge: Edge) => boolean,
): Map<string, readonly Step<MessageState>[]> {
  const nodes = new Map(
    [...exploration.nodes].map(([index, node]) => [
      index,
      { ...node, edges: node.edges.filter((edge) => admits(node, edge)) },
    ]),
  );
  const found = new Map<string, readonly Step<MessageState>[]>();
  for (const part of findCycles({ nodes })) {
    const at = (test: (queue: string) => boolean): Node<MessageState> | undefined =>
      part.find(({ state }) => test(model.placeOf(state) ?? ""));
    const isWork = (queue: string): boolean => shapeOf(queue) === "work";
    const start = at((queue) => queue === model.consumer && isWork(queue)) ?? at(isWork) ?? part[0];
    const queue = start === undefined ? null : model.placeOf(start.state);
    if (start === undefined || queue === null || found.has(queue)) continue;
    found.set(queue, loopThrough({ nodes }, start));
  }
  return found;
}
