import { type EffectiveSettings, type QueueEnd, dropsHead } from "./broker-topology.ts";
import type { Context } from "./context.ts";
import { comparedCount } from "./counts.ts";
import { type InQueue, deadLetter, lost } from "./dead-letter.ts";
import type {
  BrokerEvent,
  Circumstances,
  ConsumerEvent,
  DeathReason,
  MessageState,
  Outcome,
  QueueStatus,
} from "./message-state.ts";

const impossible: readonly Outcome[] = Object.freeze([]);
const noCircumstances: Circumstances = Object.freeze({});

export function step(
  context: Context,
  state: MessageState,
  event: BrokerEvent,
  circumstances: Circumstances = noCircumstances,
): readonly Outcome[] {
  const { place } = state;
  if (place.kind !== "queue") return impossible;
  const settings = context.settings.get(place.queue);
  if (settings === undefined || settings.kind === "stream") return impossible;
  const held: InQueue = { context, state, settings, circumstances };
  switch (event.kind) {
    case "deliver":
      return place.status === "ready" ? [[moved(state, "delivered")]] : impossible;
    case "expire":
      return place.status === "ready" && state.expiresAfterMs !== null ? dies("expired") : impossible;
    case "overflow":
      return place.status === "ready" && dropsHead(settings) ? dies("maxlen") : impossible;
    case "due":
      return place.status === "delayed" ? [[moved(state, "ready")]] : impossible;
    case "queue-expires":
      return place.status === "delivered" || settings.expiresMs === null
        ? impossible
        : [[lost(state, "queue-expired", place.queue, null)]];
    case "broker-restart":
      return endsWith("restart");
    case "last-consumer-gone":
      return endsWith("last-consumer");
    case "retry-dead-letter":
      return place.status === "retained" ? dies(place.reason) : impossible;
    default:
      if (place.status !== "delivered") return impossible;
      return [settle(held, settlementOf(context, event, settings))];
  }
  function dies(reason: DeathReason): readonly Outcome[] {
    return [deadLetter(held, reason)];
  }
  // The broker does not dead-letter the messages of a deleted queue. Source: https://www.rabbitmq.com/docs/dlx
  function endsWith(end: QueueEnd): readonly Outcome[] {
    const isDeleted = settings?.goesWith.includes(end) === true;
    return isDeleted ? [[lost(state, "queue-deleted", settings.queue, null)]] : impossible;
  }
}

function moved(state: MessageState, status: "ready" | "delivered"): MessageState {
  const { queue } = state.place as QueueStatus;
  return { ...state, place: { kind: "queue", queue, status } };
}

/** The effect of a consumer's answer in the queue, or of a missing answer. */
type Settlement =
  | { readonly kind: "done" }
  | { readonly kind: "return"; readonly isFailure: boolean; readonly namesTime: boolean }
  | { readonly kind: "discard"; readonly isFailure: boolean };

function returned(isFailure: boolean, namesTime = false): Settlement {
  return { kind: "return", isFailure, namesTime };
}

function settlementOf(context: Context, event: ConsumerEvent, settings: EffectiveSettings): Settlement {
  const { rules } = context;
  switch (event.kind) {
    case "ack":
    case "accepted":
      return { kind: "done" };
    case "nack":
      return event.requeue ? returned(false) : { kind: "discard", isFailure: !rules.tellsRejectFromNack };
    case "reject":
      return event.requeue ? returned(rules.tellsRejectFromNack) : { kind: "discard", isFailure: true };
    case "crash":
      return returned(true);
    case "consumer-timeout":
      // Up to 4.2 the broker closes the channel; 4.3 only takes the message back. Source: `rabbit_fifo:apply_/3`,
      // evaluate_consumer_timeout (4.3.5).
      return returned(!(rules.tellsRejectFromNack && settings.kind === "quorum"));
    case "rejected":
      return { kind: "discard", isFailure: true };
    case "released":
      return returned(false);
    case "modified":
      return modifiedSettlement(context, event);
    default:
      return event satisfies never;
  }
}

/**
 * Source: `rabbit_amqp_session:settle_op_from_outcome/1` (4.0.5), `rabbit_amqp1_0_session_process:handle_control`
 * (3.13.7).
 */
function modifiedSettlement({ rules }: Context, event: Extract<BrokerEvent, { kind: "modified" }>): Settlement {
  switch (rules.amqp10) {
    case "native":
      return event.undeliverableHere
        ? { kind: "discard", isFailure: event.deliveryFailed }
        : returned(event.deliveryFailed, event.deliveryTime === true && rules.deferral);
    case "plugin-with-modified":
      return event.deliveryFailed && !event.undeliverableHere ? returned(true) : { kind: "discard", isFailure: true };
    case "plugin":
      // An outcome that the plugin does not know is an error. It ends the session with the message unsettled.
      return returned(true);
    default:
      return rules.amqp10 satisfies never;
  }
}

function settle(held: InQueue, settlement: Settlement): Outcome {
  switch (settlement.kind) {
    case "done":
      return [{ ...held.state, place: { kind: "acked", queue: held.settings.queue } }];
    case "discard":
      return deadLetter({ ...held, state: counted(held, settlement.isFailure, "discard") }, "rejected");
    case "return":
      return giveBack(held, settlement);
    default:
      return settlement satisfies never;
  }
}

/** The delivery limit goes before any delay. Source: `rabbit_fifo:return_one`. */
function giveBack(held: InQueue, { isFailure, namesTime }: Extract<Settlement, { kind: "return" }>): Outcome {
  const { context, settings } = held;
  const state = counted(held, isFailure, "return");
  const { deliveryLimit, delayedRetry } = settings;
  if (deliveryLimit !== null && comparedCount(context.rules, state) > deliveryLimit) {
    return deadLetter({ ...held, state }, "delivery_limit");
  }
  const isDelayed =
    delayedRetry !== null && (delayedRetry.returns === "all" || (delayedRetry.returns === "failed") === isFailure);
  if (settings.kind === "quorum" && (namesTime || isDelayed)) {
    const delayMs = namesTime || delayedRetry === null ? null : delayOf(delayedRetry, state.deliveryCount);
    return [{ ...state, place: { kind: "queue", queue: settings.queue, status: "delayed", delayMs } }];
  }
  return [moved(state, "ready")];
}

/** Source: `rabbit_fifo:calculate_ready_at/4` (4.3.5). */
function delayOf({ minMs, maxMs }: NonNullable<EffectiveSettings["delayedRetry"]>, failures: number): number {
  return Math.min(minMs * Math.max(1, failures), maxMs);
}

/**
 * Source: `rabbit_fifo:incr_msg/3` (4.0.5), `rabbit_fifo:return_one` (3.10.8),
 * `rabbit_variable_queue:maybe_inc_delivery_count/3` (4.3.5).
 */
function counted(
  { context: { rules }, state, settings }: InQueue,
  isFailure: boolean,
  how: "return" | "discard",
): MessageState {
  if (settings.kind !== "quorum") {
    return isFailure && rules.classicCountsFailures ? { ...state, deliveryCount: state.deliveryCount + 1 } : state;
  }
  if (!rules.countsFailures) return how === "return" ? { ...state, deliveryCount: state.deliveryCount + 1 } : state;
  return {
    ...state,
    acquiredCount: state.acquiredCount + 1,
    deliveryCount: isFailure ? state.deliveryCount + 1 : state.deliveryCount,
  };
}

export function spontaneousEvents(context: Context, state: MessageState): readonly BrokerEvent[] {
  const { place } = state;
  if (place.kind !== "queue") return [];
  const settings = context.settings.get(place.queue);
  if (settings === undefined || settings.kind === "stream" || place.status === "delivered") return [];
  const events: BrokerEvent[] = [];
  if (place.status === "ready" && state.expiresAfterMs !== null) events.push({ kind: "expire" });
  if (place.status === "ready" && dropsHead(settings)) events.push({ kind: "overflow" });
  if (place.status === "delayed") events.push({ kind: "due" });
  if (place.status === "retained") events.push({ kind: "retry-dead-letter" });
  if (settings.expiresMs !== null) events.push({ kind: "queue-expires" });
  if (settings.goesWith.includes("restart")) events.push({ kind: "broker-restart" });
  if (settings.goesWith.includes("last-consumer")) events.push({ kind: "last-consumer-gone" });
  return events;
}
