import type { Context } from "./context.ts";
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
 * See `Semantics.behaviourKey`. Left out is what nothing compares: how often each death was recorded, and by which exchange and keys
 * the message came then. Counts are cut off at one above the largest limit of any queue: from there on every limit is exceeded,
 * and every delay at its maximum, whatever is added.
 */
export function behaviourKey(context: Context, state: MessageState): string {
  const { routingKeys, headers, firstDeath, lastDeath } = state;
  return [
    placeKey(state.place),
    state.exchange,
    routingKeys.length === 1 ? routingKeys[0] : canonical(routingKeys),
    headersKey(headers),
    firstDeath === null ? "" : `${firstDeath.queue}\u0001${firstDeath.reason}\u0001${firstDeath.exchange}`,
    lastDeath === null ? "" : `${lastDeath.queue}\u0001${lastDeath.reason}\u0001${lastDeath.exchange}`,
    state.deaths.map((death) => `${death.queue}\u0001${death.reason}`).join("\u0002"),
    Math.min(state.deliveryCount, context.saturation),
    Math.min(state.acquiredCount, context.saturation),
    state.expirationMs ?? "",
    state.expiresAfterMs ?? "",
  ].join("\u0000");
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
