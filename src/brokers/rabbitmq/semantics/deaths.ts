import type { Death, DeathReason, DeathSummary, Headers, HeaderValue, MessageState } from "./message-state.ts";
import type { VersionRules } from "./version.ts";

/**
 * Writes a death into a message: one record per queue and reason, which keeps the exchange, keys and expiration of the first such death.
 * Source: `mc:record_death/3` (4.3.5), `rabbit_dead_letter:update_x_death_header/2` (3.10.8).
 *
 * @returns the fields of the state that change
 */
export function recordDeath(
  state: MessageState,
  queue: string,
  reason: DeathReason,
  rules: VersionRules,
): Pick<MessageState, "deaths" | "firstDeath" | "lastDeath"> {
  const summary: DeathSummary = { queue, reason, exchange: state.exchange };
  const earlier = rules.deathOrder === "shuffled" ? shuffle(state.deaths) : state.deaths;
  const known = earlier.find((death) => death.queue === queue && death.reason === reason);
  const record: Death =
    known === undefined
      ? {
          queue,
          reason,
          exchange: state.exchange,
          routingKeys: recordedKeys(state, rules),
          count: 1,
          originalExpirationMs: state.expirationMs,
        }
      : { ...known, count: known.count + 1 };
  return {
    deaths: [record, ...earlier.filter((death) => death !== known)],
    // A message that came with a history from its publisher does not get a first death of its own.
    firstDeath: state.deaths.length === 0 ? summary : state.firstDeath,
    lastDeath: rules.lastDeathHeaders ? summary : null,
  };
}

/**
 * Turns two records or more round, and leaves out all but the first of each queue and reason, of which a publisher may have sent several.
 * Source: `rabbit_dead_letter:group_by_queue_and_reason/1` (3.10.8).
 */
function shuffle(deaths: readonly Death[]): readonly Death[] {
  if (deaths.length < 2) return deaths;
  const isFirst = (death: Death, index: number): boolean =>
    deaths.findIndex(({ queue, reason }) => queue === death.queue && reason === death.reason) === index;
  return deaths.filter(isFirst).toReversed();
}

/**
 * All keys but those of BCC, which nobody is to see. Each BCC key takes away the first key like it, be it the routing key itself.
 * Source: `mc:record_death/3` (4.3.5), `rabbit_dead_letter:make_msg/5` (3.10.8).
 */
function recordedKeys(state: MessageState, rules: VersionRules): readonly string[] {
  if (state.blindKeys.length === 0 || rules.recordsBlindKeys) return state.routingKeys;
  if (rules.dropsCarbonCopies) return [...state.routingKeys.slice(0, 1), ...keysIn(state.headers["CC"])];
  const keys = [...state.routingKeys];
  for (const blind of state.blindKeys) {
    const place = keys.indexOf(blind);
    if (place >= 0) keys.splice(place, 1);
  }
  return keys;
}

/** The routing keys in a CC or BCC header. Source: `rabbit_basic:header_routes/1`. */
export function keysIn(header: HeaderValue | undefined): readonly string[] {
  return Array.isArray(header) ? header.filter((key): key is string => typeof key === "string") : [];
}

/**
 * Whether a queue would close a cycle of deaths in which nobody rejected the message. A death by rejection itself is never asked.
 * Source: `rabbit_dead_letter:detect_cycles/3`, `mc:is_death_cycle/2`; the rules per version are in `VersionRules.cycleRule`.
 */
export function closesCycle(deaths: readonly Death[], target: string, rules: VersionRules): boolean {
  switch (rules.cycleRule) {
    case "ordered": {
      for (const { queue, reason } of deaths) {
        if (reason === "rejected") return false;
        if (queue === target) return true;
      }
      return false;
    }
    case "by-name": {
      for (const { queue, reason } of deaths.toSorted(compareByName)) {
        if (reason === "rejected") return false;
        if (queue === target) return true;
      }
      return false;
    }
    default:
      return rules.cycleRule satisfies never;
  }
}

export function compareByName(left: Death, right: Death): number {
  if (left.queue !== right.queue) return Buffer.compare(Buffer.from(left.queue), Buffer.from(right.queue));
  return left.reason < right.reason ? -1 : left.reason > right.reason ? 1 : 0;
}

/**
 * The headers that exchanges see: the publisher's, and those that the broker adds before it routes a dead letter.
 * Source: `mc:routing_headers/2` (4.3.5), `rabbit_dead_letter:update_x_death_header/2` (3.10.8).
 */
export function routingHeaders(state: MessageState): Headers {
  const { firstDeath, lastDeath, deaths } = state;
  if (deaths.length === 0) return state.headers;
  return {
    ...state.headers,
    // A list compares with nothing, but its presence can be matched (up to 3.13 the list is a header like any other).
    ...(firstDeath === null ? {} : summaryHeaders("x-first-death", firstDeath)),
    ...(lastDeath === null ? {} : summaryHeaders("x-last-death", lastDeath)),
  };
}

function summaryHeaders(prefix: string, summary: DeathSummary): Headers {
  return {
    [`${prefix}-reason`]: summary.reason,
    [`${prefix}-queue`]: summary.queue,
    [`${prefix}-exchange`]: summary.exchange,
  };
}

/** The history that a client gives to a message by publishing `x-death`; entries that are none are left out. */
export function parseDeaths(header: HeaderValue | undefined): readonly Death[] {
  if (!Array.isArray(header)) return [];
  return header.flatMap((entry: HeaderValue): Death[] => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
    const {
      queue,
      reason,
      exchange,
      count,
      "routing-keys": keys,
      "original-expiration": expiration,
    } = entry as Headers;
    if (typeof queue !== "string" || !isReason(reason)) return [];
    return [
      {
        queue,
        reason,
        exchange: typeof exchange === "string" ? exchange : "",
        routingKeys: Array.isArray(keys) ? keys.filter((key): key is string => typeof key === "string") : [],
        count: typeof count === "number" ? count : 1,
        originalExpirationMs: typeof expiration === "string" ? Number(expiration) : null,
      },
    ];
  });
}

function isReason(value: HeaderValue | undefined): value is DeathReason {
  return value === "rejected" || value === "expired" || value === "maxlen" || value === "delivery_limit";
}
