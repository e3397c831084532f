import type { Context } from "./context.ts";
import { comparedCount } from "./counts.ts";
import { compareByName } from "./deaths.ts";
import type { HeaderValue, MessageState, Place } from "./message-state.ts";

/**
 * See `Semantics.behaviourKey`. It leaves out the parts that no later event can depend on:
 *
 * - How often each death happened, and the exchange and keys of the message then: the broker compares none of these.
 * - The first and the last death, if no exchange routes by them. If one does, the key says if there is any death,
 *   because only then the next one is not the first.
 * - Deaths in queues that the message cannot enter again, and the order of the other deaths between rejections; see
 *   `deathsKey`. The cycle rule looks for the next queue among the deaths of the message. Every queue that it can enter
 *   again is in one cycle of dead-lettering with its present queue.
 * - The count that this version does not compare. Only a consumer sees it.
 *
 * The compared count stops at one above the largest limit of any queue. From there on every limit is exceeded, and
 * every delay is at its maximum.
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
 * The part of the deaths that `closesCycle` can ever use: does a queue have a death before the first rejection? So the
 * key holds sets of the records that are not rejections. It keeps only deaths in the message's own cycle of
 * dead-lettering, since the message enters no other queue again. Each set depends only on the sets in the earlier key:
 *
 * - Newest first, and checked in that order: a death that is no rejection joins the set before the first rejection. The
 *   old place of its record does not matter. A rejection empties that set. A record behind the first rejection matters
 *   again only through such a death.
 * - Sorted by name: the broker only adds records. A rejection can cut the set short, and the part behind it never comes
 *   back.
 * - Shuffled: the broker reverses the records, takes one out and puts it in front. Cut at its rejections, the list is a
 *   row of sets. Reversing the list reverses the row and leaves the sets as they are. Removing a rejection joins its
 *   two neighbours. So the row is enough. Here the set keeps the reasons of one queue's deaths apart, because the
 *   broker may take out just one of them.
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
