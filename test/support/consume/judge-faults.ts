import type { ConsumeEvent, Health } from "../../../src/consume/index.ts";
import { accountFor, type Fates } from "../random-fates.ts";
import { attempts, delayMs } from "./fates.ts";

/** One run of a handler. Times are of one clock. */
export interface FaultedRun {
  readonly id: string;
  readonly attempt: number;
  readonly atMs: number;
  /** Null while it runs. */
  endedAtMs: number | null;
  outcome: ReturnType<Fates>;
}

/** The state of a consumer at a moment. */
export interface Moment {
  readonly atMs: number;
  readonly state: Health["state"];
  readonly isTaking: boolean;
  /** True if the broker gave messages to plain clients at the consumer's node: new ones while the consumer connects. */
  readonly isServed: boolean;
  /** True if it did so at any node. */
  readonly isServedByAny: boolean;
}

/** All observations of a consumer. */
export interface Observed {
  readonly ids: readonly string[];
  readonly fates: Fates;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly runs: readonly FaultedRun[];
  readonly events: readonly { readonly atMs: number; readonly event: ConsumeEvent }[];
  readonly moments: readonly Moment[];
  readonly letters: readonly { readonly id: string; readonly reason: string | undefined }[];
}

/** The effects of faults: the forbidden ones, and the allowed ones. */
export interface Judged {
  /** Messages that neither succeeded nor reached the dead queue, or that ended in an impossible way. In words. */
  readonly wrong: readonly string[];
  /** The history of each lost message, unless it is in `lostByBroker`. */
  readonly lost: readonly string[];
  /** The same for messages that the consumer had settled as failed. After that only the broker can lose them. */
  readonly lostByBroker: readonly string[];
  /** Messages that were handled again after their success was settled, or that ended more than once. */
  readonly doubled: number;
  /** Messages with an attempt beyond the last one. */
  readonly above: readonly string[];
  /** Attempts that began before they were due. */
  readonly early: readonly string[];
  /** The longest time without a new handler run, while some messages had never been handled. */
  readonly stall: Stall;
  /** The longest one while the broker served. */
  readonly unexcused: Stall;
}

export interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
  readonly durationMs: number;
  /** The part of it that the broker served a plain client at the same node. */
  readonly servedMs: number;
  /** The same, at any node. */
  readonly servedByAnyMs: number;
  /** The part of it that `health()` reported that messages were taken. */
  readonly takingMs: number;
  /** The duration of each state. */
  readonly states: Readonly<Record<string, number>>;
}

export function judgeFaulted(observed: Observed): Judged {
  const { ids, runs, letters, fates } = observed;
  const { well, unanswered } = endsIn(observed);
  const dead = Map.groupBy(letters, ({ id }) => id);
  const settled = [...well].flatMap(([id, times]) => times.map(() => id));
  const seen = { runs, well: settled, unanswered, letters };
  const outcomes = new Map(runs.map(({ id, attempt, outcome }) => [`${id} ${attempt}`, outcome]));
  const asItWas: Fates = (id, attempt) => outcomes.get(`${id} ${attempt}`) ?? fates(id, attempt);
  const perhaps = new Set(unanswered);
  const endsOf = (id: string): number => (well.get(id)?.length ?? 0) + (dead.get(id)?.length ?? 0);
  const missing = ids.filter((id) => endsOf(id) === 0 && !perhaps.has(id));
  const byBroker = new Set(missing.filter((id) => isWithBroker(id, observed)));
  const rest = ids.filter((id) => !byBroker.has(id));
  const { wrong } = accountFor({ fates: asItWas, attempts, ids: rest }, seen);
  const runsOf = Map.groupBy(runs, ({ id }) => id);
  const isDoubled = (id: string): boolean => {
    const succeededAtMs = well.get(id)?.[0] ?? Infinity;
    return endsOf(id) > 1 || (runsOf.get(id) ?? []).some(({ atMs }) => atMs > succeededAtMs);
  };
  const stalls = stallsIn(observed);
  const longest = (of: (stall: Stall) => number): Stall =>
    stalls.reduce((most, each) => (of(each) > of(most) ? each : most), noStall);
  return {
    wrong,
    lost: missing.filter((id) => !byBroker.has(id)).map((id) => historyOf(id, observed)),
    lostByBroker: [...byBroker].map((id) => historyOf(id, observed)),
    doubled: ids.filter(isDoubled).length,
    above: runs.filter(({ attempt }) => attempt > attempts).map(({ id, attempt }) => `${id} had attempt ${attempt}`),
    early: ids.flatMap((id) => earlyIn(runsOf.get(id) ?? [], observed)),
    stall: longest(({ durationMs }) => durationMs),
    unexcused: longest(({ servedMs }) => servedMs),
  };
}

/** True if the last event of a message settles a failure. */
function isWithBroker(id: string, { events }: Observed): boolean {
  const last = events.findLast(({ event }) => "messageId" in event && event.messageId === id)?.event;
  return last?.kind === "settled" && last.outcome !== "success";
}

/** The runs and events of a message, and the changes of the connection. */
function historyOf(id: string, { runs, events, startedAtMs }: Observed): string {
  const ofRuns = runs
    .filter((run) => run.id === id)
    .flatMap(({ attempt, atMs, endedAtMs, outcome }) => [
      { atMs, text: `attempt ${attempt} began` },
      ...(endedAtMs === null ? [] : [{ atMs: endedAtMs, text: `it ended as ${outcome}` }]),
    ]);
  const ofEvents = events
    .filter(({ event }) => !("messageId" in event) || event.messageId === id)
    .map(({ atMs, event }) => ({ atMs, text: JSON.stringify(event) }));
  const lines = [...ofRuns, ...ofEvents].sort((one, other) => one.atMs - other.atMs);
  return [id, ...lines.map(({ atMs, text }) => `${atMs - startedAtMs} ms: ${text}`)].join("\n");
}

/** The time of each message's success, and the successes that the broker did not answer. */
function endsIn({ events, runs }: Observed): {
  readonly well: ReadonlyMap<string, readonly number[]>;
  readonly unanswered: readonly string[];
} {
  const well = new Map<string, number[]>();
  const unanswered: string[] = [];
  for (const { atMs, event } of events) {
    if (event.kind === "settled" && event.outcome === "success") {
      const id = String(event.messageId);
      well.set(id, [...(well.get(id) ?? []), atMs]);
    }
    if (isUnanswered(runs, event)) unanswered.push(String(event.messageId));
  }
  return { well, unanswered };
}

/** True for a success without the broker's answer. It is the end of a message if the message never comes again. */
export function isUnanswered(
  runs: readonly FaultedRun[],
  event: ConsumeEvent,
): event is ConsumeEvent & { readonly kind: "settle-dropped" } {
  if (event.kind !== "settle-dropped") return false;
  const { messageId, attempt: number } = event;
  return runs.findLast(({ id, attempt }) => id === messageId && attempt === number)?.outcome === "success";
}

/**
 * Finds attempts that began too early after the failure before them. If the failed attempt ran more than once, its
 * first end counts. If one of its runs could not answer the broker any more, the broker itself delivered the message
 * again, at once. The same holds if the connection was lost in between: the broker answers no settlement, so one that
 * was on its way may never have come.
 */
function earlyIn(runs: readonly FaultedRun[], { events }: Observed): readonly string[] {
  if (runs.every(({ attempt }) => attempt === 1)) return [];
  const { dropped, lostAtMs } = cutIn(events);
  return runs.flatMap(({ id, attempt, atMs }) => {
    const before = runs.filter((run) => run.attempt === attempt - 1);
    if (before.length === 0 || before.some((run) => run.endedAtMs === null)) return [];
    if (dropped.has(`${id} ${attempt - 1}`)) return [];
    const failedAtMs = Math.min(...before.map(({ endedAtMs }) => endedAtMs ?? Infinity));
    const sinceMs = atMs - failedAtMs;
    if (lostAtMs.some((each) => each >= failedAtMs && each <= atMs)) return [];
    // Two clocks that are read in milliseconds may differ by one.
    return sinceMs < delayMs - 1 ? [`attempt ${attempt} of ${id} began ${sinceMs} ms after the one before`] : [];
  });
}

/** The attempts that did not answer the broker, and the times at which connections were lost. */
interface Cut {
  readonly dropped: ReadonlySet<string>;
  readonly lostAtMs: readonly number[];
}

const cutsOf = new WeakMap<Observed["events"], Cut>();

function cutIn(events: Observed["events"]): Cut {
  const known = cutsOf.get(events);
  if (known !== undefined) return known;
  const dropped = new Set(
    events.flatMap(({ event }) =>
      event.kind === "settle-dropped" || event.kind === "returned" ? [`${event.messageId} ${event.attempt}`] : [],
    ),
  );
  const lostAtMs = events.flatMap(({ atMs, event }) => (event.kind === "lost" ? [atMs] : []));
  const cut = { dropped, lostAtMs };
  cutsOf.set(events, cut);
  return cut;
}

const noStall: Stall = { fromMs: 0, toMs: 0, durationMs: 0, servedMs: 0, servedByAnyMs: 0, takingMs: 0, states: {} };

/** All times without a new handler run, while some messages had never been handled. The shortest ones are left out. */
function stallsIn({ ids, runs, startedAtMs, endedAtMs, moments }: Observed): readonly Stall[] {
  const firstRuns = new Map<string, number>();
  for (const { id, atMs } of runs) if (!firstRuns.has(id)) firstRuns.set(id, atMs);
  const lastMs = firstRuns.size < ids.length ? endedAtMs : Math.min(endedAtMs, Math.max(...firstRuns.values()));
  const begins = [startedAtMs, ...runs.map(({ atMs }) => atMs).filter((atMs) => atMs < lastMs), lastMs];
  return begins.flatMap((toMs, index) => {
    const fromMs = begins[index - 1] ?? toMs;
    return toMs - fromMs < 1_000 ? [] : [stallOf(moments, fromMs, toMs)];
  });
}

function stallOf(moments: readonly Moment[], fromMs: number, toMs: number): Stall {
  let servedMs = 0;
  let servedByAnyMs = 0;
  let takingMs = 0;
  const states: Record<string, number> = {};
  for (const [index, { atMs, state, isTaking, isServed, isServedByAny }] of moments.entries()) {
    const lastedMs = Math.min(toMs, moments[index + 1]?.atMs ?? toMs) - Math.max(fromMs, atMs);
    if (lastedMs <= 0) continue;
    if (isServed) servedMs += lastedMs;
    if (isServedByAny) servedByAnyMs += lastedMs;
    if (isTaking) takingMs += lastedMs;
    states[state] = (states[state] ?? 0) + lastedMs;
  }
  return { fromMs, toMs, durationMs: toMs - fromMs, servedMs, servedByAnyMs, takingMs, states };
}
