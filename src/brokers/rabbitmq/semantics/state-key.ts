import type { Context } from "./context.ts";
import { comparedCount } from "./counts.ts";
import type { HeaderValue, MessageState, Place } from "./message-state.ts";

/** A key that two states share exactly when they are the same. */
export function stateKey(state: MessageState): string {
  return canonical([
    placeKey(state.place),
    state.exchange,
    state.routingKeys,
    state.blindKeys,
    state.headers,
    state.firstDeath as unknown as HeaderValue,
    state.lastDeath as unknown as HeaderValue,
    state.deaths as unknown as HeaderValue,
    state.deliveryCount,
    state.acquiredCount,
    state.expirationMs,
    state.expiresAfterMs,
  ]);
}

/**
 * See `Semantics.behaviourKey`. What is left out no later event can depend on:
 *
 * - How often each death was recorded, and by which exchange and keys the message came then: nothing compares that.
 * - The first and the last death, where no exchange routes by them.
 * - Deaths in queues that the message cannot come back to. The cycle rule looks for the queue that a message is about to enter, among its
 *   deaths; whatever it can enter again is in one cycle of dead-lettering with the queue where it is.
 * - Of the two counts the one that this version does not compare; a consumer sees it and nothing else.
 *
 * The compared count is cut off at one above the largest limit of any queue: from there on every limit is exceeded, and every delay at its
 * maximum, whatever is added.
 */
export function behaviourKey(context: Context, state: MessageState): string {
  const { routingKeys, headers } = state;
  return [
    placeKey(state.place),
    state.exchange,
    routingKeys.length === 1 ? routingKeys[0] : canonical(routingKeys),
    headersKey(headers),
    context.routesByDeath ? `${summaryKey(state.firstDeath)}\u0003${summaryKey(state.lastDeath)}` : "",
    deathsKey(context, state),
    Math.min(comparedCount(context.rules, state), context.saturation),
    state.expirationMs ?? "",
    state.expiresAfterMs ?? "",
  ].join("\u0000");
}

function summaryKey(death: MessageState["firstDeath"]): string {
  return death === null ? "" : `${death.queue}\u0001${death.reason}\u0001${death.exchange}`;
}

/**
 * In the order by recency a rejection matters only if it came after the death in the queue that the message is about to enter again, and so
 * in the same cycle. In the other orders any rejection can come before it.
 */
function deathsKey({ rules, cycleOf }: Context, { place, deaths }: MessageState): string {
  if (place.kind !== "queue" || deaths.length === 0) return "";
  const here = cycleOf(place.queue);
  const byRecency = rules.deathOrder === "recency" && rules.cycleRule === "ordered";
  return deaths
    .filter(({ queue, reason }) => cycleOf(queue) === here || (!byRecency && reason === "rejected"))
    .map(({ queue, reason }) => `${queue}\u0001${reason}`)
    .join("\u0002");
}

function placeKey(place: Place): string {
  switch (place.kind) {
    case "queue":
      switch (place.status) {
        case "ready":
        case "delivered":
          return `${place.status}\u0001${place.queue}`;
        case "delayed":
          return `delayed\u0001${place.queue}\u0001${place.delayMs}`;
        case "retained":
          return `retained\u0001${place.queue}\u0001${place.reason}\u0001${place.cause}\u0001${place.waitingFor.join("\u0002")}`;
        default:
          return place satisfies never;
      }
    case "acked":
    case "refused":
      return `${place.kind}\u0001${place.queue}`;
    case "lost":
      return `lost\u0001${place.cause}\u0001${place.queue}\u0001${place.reason}`;
    default:
      return place satisfies never;
  }
}

function headersKey(headers: MessageState["headers"]): string {
  for (const _ in headers) return canonical(headers);
  return "";
}

function canonical(value: HeaderValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value as Readonly<Record<string, HeaderValue>>);
  return `{${entries
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`)
    .join()}}`;
}
