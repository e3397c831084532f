import type { Backoff } from "../declare/backoff.ts";
import { parseDurationMs } from "../declare/duration.ts";
import type { QueueSettings } from "../declare/queue-arguments.ts";
import { isStated } from "../declare/stated-filter.ts";
import type { Consumer, HeadersMatch, StatedFilter, System, Taken } from "../declare/system.ts";
import { type AttemptPlan, jitterPercentOf, schedule } from "./schedule.ts";

/** The meaning of a consumer's declaration on any broker. All durations are whole milliseconds. */
export interface ConsumerPlan {
  /** Its name in the declaration. */
  readonly consumer: string;
  /** Empty if producers send straight to the work queue. */
  readonly from: { readonly [source: string]: readonly string[] | "all" };
  /** By source of kind headers: the matches, of which a message needs one. `from` has `"all"` for it. */
  readonly matches?: { readonly [source: string]: readonly HeadersMatch[] };
  /** By source with a filter of SNS. `from` has `"all"` for it, because any message may pass the filter. */
  readonly filters?: { readonly [source: string]: StatedFilter };
  /** The name of the work queue, if the declaration gives one. */
  readonly queue?: string;
  /** The name of the dead queue, if the declaration gives one. */
  readonly deadQueue?: string;
  /** The name of the consumer on the broker, if it differs. */
  readonly formerly?: string;
  /** The arguments of its own that the work queue has, if the declaration gives any. */
  readonly queueArguments?: NonNullable<Consumer["queueArguments"]>;
  /** The place of the work queue's structure on RabbitMQ, if the declaration gives one. */
  readonly queueSettings?: QueueSettings;
  /** The same of its dead queue. */
  readonly deadQueueSettings?: QueueSettings;
  /** `per-key` if a message waits for the earlier ones with its key. */
  readonly order: Consumer["order"];
  /** The protocol of the consumer's code on RabbitMQ. Other brokers ignore it. */
  readonly protocol: Consumer["protocol"];
  /** The longest run of a handler. Null without a limit. */
  readonly handlerTimeoutMs: number | null;
  /** The retries; null for a consumer with a queue for every instance. */
  readonly retry: RetryPlan | null;
}

export interface RetryPlan {
  /** The attempts that remain after `giveUpAfter`. */
  readonly attempts: readonly AttemptPlan[];
  /** The form of the schedule. `attempts` has its numbers. */
  readonly backoff: Backoff["kind"];
  /** The most that jitter adds to a delay, in percent of it; 0 for none. */
  readonly jitterPercent: number;
  /** The longest delay that a handler may ask for; null if it may not. */
  readonly retryAfterMaxMs: number | null;
  /** The limit that leaves out attempts; null if it leaves out none. */
  readonly giveUpAfter: {
    /** Counted from the first attempt. */
    readonly afterMs: number;
    /** The number of attempts before the limit left some out. */
    readonly declaredAttempts: number;
  } | null;
  /** The number of deliveries that may end in a crash before the message is dead. */
  readonly crashDeliveries: number;
  /** False if the number of attempts stands in for a declared limit. */
  readonly crashDeclared: boolean;
  /** The most deliveries of one message: every attempt with as many crashes as are allowed. */
  readonly maxDeliveries: number;
  /**
   * The longest time from the first delivery to the dead queue. Each delay has its longest value, and each delivery
   * takes the whole handler timeout (zero without a declared one). Waiting for a free consumer does not count.
   */
  readonly worstCaseToDeadLetterMs: number;
  /** The names of errors that end a message at once. */
  readonly permanentErrors: readonly string[];
  /** The shortest time to keep dead letters. Null for as long as the broker keeps them. */
  readonly retainMs: number | null;
  /** More dead letters than this raise an alarm. Null for none. */
  readonly alarmAbove: number | null;
  /** The most redrives of one letter, if the declaration says it. */
  readonly generations?: number;
  /** True if the consumer has a queue for parked letters. */
  readonly park?: true;
}

/** The meaning of a whole declaration on any broker. */
export interface Plan {
  /** The name of the system on the broker. */
  readonly system: string;
  /** The property that gives this name, if it is not `name`. */
  readonly namedBy?: "formerly";
  /** By their names in the declaration. */
  readonly sources: System["sources"];
  /** The templates for names, if the declaration gives them. */
  readonly names?: System["names"];
  /** In the order of the declaration. */
  readonly consumers: readonly ConsumerPlan[];
  /** The budget, if the declaration gives one. */
  readonly limits?: System["limits"];
}

/**
 * Works out the meaning of a declaration: the due time of each attempt, the longest time until a message is dead, and
 * the most deliveries. It depends on no broker.
 *
 * @param system a checked declaration, from `defineSystem` or `checkSystem`
 * @returns frozen, JSON-serialisable data
 */
export function plan(system: System): Plan {
  return Object.freeze({
    system: nameOfSystem(system),
    ...(system.formerly === undefined ? {} : { namedBy: "formerly" as const }),
    sources: system.sources,
    ...(system.names === undefined ? {} : { names: system.names }),
    consumers: Object.freeze(
      Object.entries(system.consumers).map(([consumer, declared]) => planConsumer(consumer, declared)),
    ),
    ...(system.limits === undefined ? {} : { limits: system.limits }),
  });
}

/** The plan of one consumer. That of the whole system, once for each of a thousand consumers, takes half a minute. */
export function planAlone(system: System, consumer: string): Plan {
  const own = system.consumers[consumer];
  return plan({ ...system, consumers: own === undefined ? {} : { [consumer]: own } });
}

/** The name of a system on the broker. */
export function nameOfSystem({ name, formerly }: Pick<System, "name" | "formerly">): string {
  return formerly ?? name;
}

function planConsumer(consumer: string, declared: Consumer): ConsumerPlan {
  const handlerTimeoutMs = declared.handlerTimeout === undefined ? null : parseDurationMs(declared.handlerTimeout);
  return Object.freeze({
    consumer,
    ...planFrom(declared.from ?? {}),
    ...(declared.queue === undefined ? {} : { queue: declared.queue }),
    ...(declared.deadLetter?.queue === undefined ? {} : { deadQueue: declared.deadLetter.queue }),
    ...(declared.formerly === undefined ? {} : { formerly: declared.formerly }),
    ...(declared.queueArguments === undefined ? {} : { queueArguments: declared.queueArguments }),
    ...(declared.queueSettings === undefined ? {} : { queueSettings: declared.queueSettings }),
    ...(declared.deadLetter?.queueSettings !== undefined && { deadQueueSettings: declared.deadLetter.queueSettings }),
    order: declared.order,
    protocol: declared.protocol,
    handlerTimeoutMs,
    retry: planRetry(declared, handlerTimeoutMs ?? 0),
  });
}

function planFrom(from: NonNullable<Consumer["from"]>): Pick<ConsumerPlan, "from" | "matches" | "filters"> {
  const entries = Object.entries(from);
  const matches = entries.flatMap(([source, taken]) => {
    const all = matchesIn(taken);
    return all.length === 0 ? [] : [[source, all] as const];
  });
  const filters = entries.flatMap(([source, taken]) => (isStated(taken) ? [[source, taken] as const] : []));
  const keys = entries.map(([source, taken]) => {
    return [source, matchesIn(taken).length > 0 || isStated(taken) ? "all" : taken] as const;
  });
  return {
    from: Object.fromEntries(keys) as ConsumerPlan["from"],
    ...(matches.length === 0 ? {} : { matches: Object.fromEntries(matches) }),
    ...(filters.length === 0 ? {} : { filters: Object.fromEntries(filters) }),
  };
}

/** The matches of a headers source. Empty for any other source, and for `"all"`. */
function matchesIn(taken: Taken): readonly HeadersMatch[] {
  if (taken === "all" || isStated(taken)) return [];
  if ("match" in taken) return [taken];
  return taken.filter((each): each is HeadersMatch => typeof each !== "string");
}

/** The messages of a source that come to the consumer, in words. Null for routing keys and for all of them. */
export function chosenText({ matches, filters }: ConsumerPlan, source: string): string | null {
  const stated = filters?.[source];
  if (stated === undefined) return matches?.[source] === undefined ? null : matchesText(matches[source]);
  const { filterPolicy, filterPolicyScope: scope } = stated;
  return `the filter ${JSON.stringify(filterPolicy)}${scope === "MessageBody" ? " on the body" : ""}`;
}

/** Matches in words: `all of type=invoice, region=eu; any of version=2`. */
function matchesText(matches: readonly HeadersMatch[]): string {
  return matches.map(({ match, headers }) => `${match} of ${headerTexts(headers).join(", ")}`).join("; ");
}

/** Headers in words. A text that reads as a number or a boolean has quotes. */
export function headerTexts(headers: HeadersMatch["headers"]): readonly string[] {
  return Object.entries(headers).map(([name, value]) => {
    const isOther = typeof value === "string" && /^(true|false|-?[\d.].*)$/.test(value);
    return `${name}=${isOther ? JSON.stringify(value) : value}`;
  });
}

function planRetry(declared: Consumer, handlerTimeoutMs: number): RetryPlan | null {
  const retry = declared.retry;
  if (retry === undefined) return null;
  const all = schedule(retry.backoff, retry.attempts);
  const giveUpAfterMs = retry.giveUpAfter === undefined ? null : parseDurationMs(retry.giveUpAfter);
  const attempts = giveUpAfterMs === null ? all : all.filter((each) => each.dueLatestMs <= giveUpAfterMs);
  const crashDeliveries = declared.crash?.deliveries ?? attempts.length;
  const maxDeliveries = attempts.length * crashDeliveries;
  const lastDueMs = attempts.at(-1)?.dueLatestMs ?? 0;
  const retryAfterMaxMs = retry.retryAfter === undefined ? null : parseDurationMs(retry.retryAfter.max);
  const longestWaitMs =
    retryAfterMaxMs === null
      ? lastDueMs
      : attempts.reduce(
          (sum, each, index) => (index === 0 ? sum : sum + Math.max(each.delayLatestMs, retryAfterMaxMs)),
          0,
        );
  return Object.freeze({
    attempts: Object.freeze(attempts),
    backoff: retry.backoff.kind,
    jitterPercent: jitterPercentOf(retry.backoff),
    retryAfterMaxMs,
    giveUpAfter:
      giveUpAfterMs === null ? null : Object.freeze({ afterMs: giveUpAfterMs, declaredAttempts: retry.attempts }),
    crashDeliveries,
    crashDeclared: declared.crash !== undefined,
    maxDeliveries,
    worstCaseToDeadLetterMs: longestWaitMs + maxDeliveries * handlerTimeoutMs,
    permanentErrors: declared.errors?.permanent ?? noErrors,
    retainMs: declared.deadLetter?.retain === undefined ? null : parseDurationMs(declared.deadLetter.retain),
    alarmAbove: declared.deadLetter?.alarmAbove ?? null,
    ...(declared.deadLetter?.generations === undefined ? {} : { generations: declared.deadLetter.generations }),
    ...(declared.deadLetter?.park === true ? { park: true } : {}),
  });
}

/** True if producers send straight to the work queue. */
export function isDirect({ from }: Pick<ConsumerPlan, "from">): boolean {
  return Object.keys(from).length === 0;
}

const noErrors: readonly string[] = Object.freeze([]);
