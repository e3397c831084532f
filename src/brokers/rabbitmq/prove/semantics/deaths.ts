import {
  type Death,
  type DeathReason,
  type DeathSummary,
  type Headers,
  type HeaderValue,
  type MessageState,
  deathReasons,
} from "./message-state.ts";
import type { VersionRules } from "./version.ts";

/**
 * Writes a death into a message. There is one record for each queue and reason. It keeps the exchange, keys and
 * expiration of the first such death. Source: `mc:record_death/3` (4.3.5), `rabbit_dead_letter:update_x_death_header/2`
 * (3.10.8).
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
    firstDeath: state.deaths.length > 0 || claimsHistory(state, rules) ? state.firstDeath : summary,
    lastDeath: rules.lastDeathHeaders ? summary : null,
  };
}

/**
 * True if the publisher sent an `x-death` without a readable record. If a version believes such a header, the message
 * gets no first death of its own: up to 3.12 with any value, later with a list. Source:
 * `rabbit_dead_letter:update_x_death_header/2` (3.10.8), `mc_amqpl:headers_to_deaths/2` (3.13.7).
 */
function claimsHistory({ headers }: MessageState, rules: VersionRules): boolean {
  const claimed = headers["x-death"];
  return rules.readsPublishedDeaths && (rules.lastDeathHeaders ? Array.isArray(claimed) : claimed !== undefined);
}

/**
 * Reverses two records or more and keeps only the first of each queue and reason. A publisher may have sent several.
 * Source: `rabbit_dead_letter:group_by_queue_and_reason/1` (3.10.8).
 */
function shuffle(deaths: readonly Death[]): readonly Death[] {
  if (deaths.length < 2) return deaths;
  const isFirst = (death: Death, index: number): boolean =>
    deaths.findIndex(({ queue, reason }) => queue === death.queue && reason === death.reason) === index;
  return deaths.filter(isFirst).toReversed();
}

/**
 * All keys but those of BCC, which stay hidden. Each BCC key removes the first key equal to it, even the routing key
 * itself. Source: `mc:record_death/3` (4.3.5), `rabbit_dead_letter:make_msg/5` (3.10.8).
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
 * Tells if a queue would close a cycle of deaths without a rejection. The broker does not check a death by rejection
 * itself. Source: `rabbit_dead_letter:detect_cycles/3`, `mc:is_death_cycle/2`. `VersionRules.cycleRule` has the rules
 * for each version.
 */
export function closesCycle(deaths: readonly Death[], target: string, rules: VersionRules): boolean {
  const looked = rules.cycleRule === "by-name" ? deaths.toSorted(compareByName) : deaths;
  const decisive = looked.find(({ queue, reason }) => reason === "rejected" || queue === target);
  return decisive !== undefined && decisive.reason !== "rejected";
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
    // The list `x-death` is left out, because a list equals nothing. Up to 3.13 it is a header like any other, so an
    // exchange could match its presence.
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

/** Reads the deaths that a client publishes in `x-death`, and skips invalid entries. */
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
    const known = deathReasons.find((each) => each === reason);
    if (typeof queue !== "string" || known === undefined) return [];
    return [
      {
        queue,
        reason: known,
        exchange: typeof exchange === "string" ? exchange : "",
        routingKeys: Array.isArray(keys) ? keys.filter((key): key is string => typeof key === "string") : [],
        count: typeof count === "number" ? count : 1,
        originalExpirationMs: typeof expiration === "string" ? Number(expiration) : null,
      },
    ];
  });
}
