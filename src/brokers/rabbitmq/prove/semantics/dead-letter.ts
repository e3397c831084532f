import { route } from "../routing.ts";
import { type EffectiveSettings, isBounded } from "./broker-topology.ts";
import type { Context } from "./context.ts";
import { closesCycle, recordDeath, routingHeaders } from "./deaths.ts";
import type { Circumstances, DeathReason, LossCause, MessageState, RetentionCause } from "./message-state.ts";

/** A message in a queue, with all that its end there depends on. */
export interface InQueue {
  readonly context: Context;
  readonly state: MessageState;
  /** The settings of the queue. */
  readonly settings: EffectiveSettings;
  readonly circumstances: Circumstances;
}

/**
 * Computes the end of a message that dies in a queue. It becomes copies in the queues that the dead-letter exchange
 * routes to, or it is lost. With at-least-once dead-lettering the queue may also retain it. Source:
 * `rabbit_dead_letter:publish/5`, `rabbit_fifo_dlx_worker:forward/6`, `rabbit_quorum_queue:dead_letter_publish/5`.
 */
export function deadLetter(dying: InQueue, reason: DeathReason): readonly MessageState[] {
  const { context, state, settings, circumstances } = dying;
  const { deadLetterExchange, queue } = settings;
  if (deadLetterExchange === null) return [lost(state, "no-dead-letter-exchange", queue, reason)];
  const letter = writeLetter(dying, reason, deadLetterExchange);
  const found = targetsOf(context, letter, reason);
  if (settings.deadLetterStrategy === "at-least-once") return forwardSafely(dying, letter, reason, found);
  if (found.failure !== null) return [lost(letter, found.failure, queue, reason)];
  const copies = found.targets.flatMap((target) => enqueue(context, letter, target, "dead-letter", circumstances));
  return copies.length > 0 ? copies : [lost(letter, "target-full", queue, reason)];
}

/** The message as the queue publishes it to the dead-letter exchange: without its own expiration. */
function writeLetter({ context, state, settings }: InQueue, reason: DeathReason, exchange: string): MessageState {
  const newKey = settings.deadLetterRoutingKey;
  return {
    ...state,
    ...recordDeath(state, settings.queue, reason, context.rules),
    exchange,
    routingKeys: newKey === null ? state.routingKeys : [newKey],
    headers: headersOfLetter(context, state, newKey),
    expirationMs: null,
  };
}

function headersOfLetter(context: Context, state: MessageState, newKey: string | null): MessageState["headers"] {
  const { headers } = state;
  const dropsCopies = newKey !== null && context.rules.dropsCarbonCopies && Object.hasOwn(headers, "CC");
  // The broker's own list replaces a list that a client published and this version did not read.
  if (!dropsCopies && !Object.hasOwn(headers, "x-death")) return headers;
  return Object.fromEntries(
    Object.entries(headers).filter(([key]) => key !== "x-death" && !(dropsCopies && key === "CC")),
  );
}

interface Targets {
  readonly targets: readonly string[];
  /** The reason for having no target; null if there is one. */
  readonly failure: "missing-exchange" | "no-route" | "cycle" | null;
}

function targetsOf(context: Context, letter: MessageState, reason: DeathReason): Targets {
  const routed = route(context.routing, letter.exchange, {
    routingKeys: letter.routingKeys,
    headers: routingHeaders(letter),
  });
  if (routed === null) return { targets: [], failure: "missing-exchange" };
  if (routed.length === 0) return { targets: [], failure: "no-route" };
  if (reason === "rejected") return { targets: routed, failure: null };
  const targets = routed.filter((target) => !closesCycle(letter.deaths, target, context.rules));
  return { targets, failure: targets.length === 0 ? "cycle" : null };
}

/**
 * The source keeps the message until every target has confirmed. Source: `rabbit_fifo_dlx_worker:forward/6`,
 * `redeliver0/5`.
 */
function forwardSafely(
  { context, state, settings: { queue }, circumstances }: InQueue,
  letter: MessageState,
  reason: DeathReason,
  { targets, failure }: Targets,
): readonly MessageState[] {
  const retain = (cause: RetentionCause, waitingFor: readonly string[]): MessageState => ({
    ...state,
    place: { kind: "queue", queue, status: "retained", reason, cause, waitingFor },
  });
  if (failure !== null) return [retain(failure, [])];
  const { place } = state;
  // The broker does not send an unconfirmed copy again. The client of the queue does.
  if (place.kind === "queue" && place.status === "retained" && place.cause === "unconfirmed") return [state];
  const awaited = place.kind === "queue" && place.status === "retained" ? place.waitingFor : [];
  const open = awaited.length === 0 ? targets : targets.filter((target) => awaited.includes(target));
  const full = open.filter((target) => isRefusing(context, target, circumstances));
  const copies = open.flatMap((target) =>
    full.includes(target) && context.settings.get(target)?.overflow !== "reject-publish-dlx"
      ? []
      : enqueue(context, letter, target, "confirmed-dead-letter", circumstances),
  );
  const isUnconfirmed = !context.rules.confirmsToItself && open.includes(queue) && !full.includes(queue);
  if (full.length > 0) return [...copies, retain("target-full", full)];
  return isUnconfirmed ? [...copies, retain("unconfirmed", [queue])] : copies;
}

function isRefusing(context: Context, queue: string, { fullQueues }: Circumstances): boolean {
  if (fullQueues === undefined || !fullQueues.has(queue)) return false;
  const settings = context.settings.get(queue);
  return settings !== undefined && settings.overflow !== "drop-head" && isBounded(settings);
}

/** The sender of the message. Only a sender that waits for a confirm learns that the queue is full. */
type Sender = "client" | "dead-letter" | "confirmed-dead-letter";

/**
 * Puts a copy into a queue.
 *
 * A full classic queue refuses it. A full quorum queue refuses clients and at-least-once dead-lettering. It takes
 * copies from at-most-once dead-lettering, which does not ask. With `reject-publish-dlx` the refused copy is
 * dead-lettered. Source: `rabbit_amqqueue_process:maybe_deliver_or_enqueue/3`, `rabbit_quorum_queue:deliver/3`
 * (stateless).
 */
export function enqueue(
  context: Context,
  message: MessageState,
  queue: string,
  sender: Sender,
  circumstances: Circumstances,
): readonly MessageState[] {
  const settings = context.settings.get(queue);
  if (settings === undefined) return [];
  if (isRefusing(context, queue, circumstances) && !(settings.kind === "quorum" && sender === "dead-letter")) {
    const dying = { context, state: message, settings, circumstances };
    const passedOn = settings.overflow === "reject-publish-dlx" ? deadLetter(dying, "maxlen") : [];
    const refused: MessageState[] = sender === "client" ? [{ ...message, place: { kind: "refused", queue } }] : [];
    return [...passedOn.filter(({ place }) => place.kind !== "lost"), ...refused];
  }
  const timesMs = [message.expirationMs, settings.messageTtlMs].filter((each) => each !== null);
  return [
    {
      ...message,
      place: { kind: "queue", queue, status: "ready" },
      // Up to 3.13 each queue counts for itself. From 4.0 on the message carries the count of failures.
      deliveryCount: context.rules.countsFailures ? message.deliveryCount : 0,
      acquiredCount: 0,
      expiresAfterMs: timesMs.length === 0 ? null : Math.min(...timesMs),
    },
  ];
}

export function lost(
  state: MessageState,
  cause: LossCause,
  queue: string | null,
  reason: DeathReason | null,
): MessageState {
  return { ...state, place: { kind: "lost", cause, queue, reason } };
}
