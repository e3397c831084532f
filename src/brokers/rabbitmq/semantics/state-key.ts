import type { Context } from "./context.ts";
import { comparedCount } from "./counts.ts";
import { compareByName } from "./deaths.ts";
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
 * - The first and the last death, where no exchange routes by them. (Where one does, whether there is any death: only then the next is the first.)
 * - Deaths in queues that the message cannot come back to, and the order of the others between rejections; see `deathsKey`. The cycle
 *   rule looks for the queue that a message is about to enter, among its deaths; whatever it can enter again is in one cycle of
 *   dead-lettering with the queue where it is.
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
    context.routesByDeath
      ? `${state.deaths.length > 0}\u0003${summaryKey(state.firstDeath)}\u0003${summaryKey(state.lastDeath)}`
      : "",
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
 * Of the deaths as much as `closesCycle` can ever ask: whether a queue has a death before the first rejection. Records that are not
 * rejections are therefore told as sets, and of those only such as are in the cycle of dead-lettering in which the message is, since it comes
 * back to no other queue. No set grows out of anything but what the key tells:
 *
 * - Newest first, and looked at in that order: a death that is no rejection joins the set before the first rejection, wherever its record was;
 *   a rejection empties that set. What is behind the first rejection is never seen again but by such a death.
 * - Sorted by name: records are only added. A rejection can cut the set short, and what it cuts off never comes back.
 * - Shuffled: the records are turned round, one is taken out and put in front. Cut at its rejections, the list is a row of sets. To turn it
 *   round turns the row round and leaves the sets as they are; to take a rejection out joins its neighbours; so the row says enough. Here
 *   one queue's deaths for several reasons are told apart, because one of them alone can be taken out.
 */
function deathsKey(context: Context, { place, deaths }: MessageState): string {
  if (place.kind !== "queue" || deaths.length === 0) return "";
  const { rules, cycleOf } = context;
  const here = cycleOf(place.queue);
  const looked = rules.cycleRule === "by-name" ? deaths.toSorted(compareByName) : deaths;
  const row: string[] = [];
  let set = new Set<string>();
  for (const { queue, reason } of looked) {
    if (reason !== "rejected") {
      if (cycleOf(queue) === here) set.add(rules.deathOrder === "shuffled" ? `${queue}\u0001${reason}` : queue);
      continue;
    }
    row.push(setKey(set));
    set = new Set();
    if (rules.deathOrder === "recency" && rules.cycleRule === "ordered") return row.join("");
    row.push(queue);
    if (rules.cycleRule === "by-name") return row.join("\u0003");
  }
  row.push(setKey(set));
  return row.join("\u0003");
}

function setKey(set: ReadonlySet<string>): string {
  return set.size < 2 ? [...set].join("") : [...set].sort().join("\u0002");
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
