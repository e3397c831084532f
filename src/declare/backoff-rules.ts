import { type Diagnostic, type PathSegment, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { type Backoff, delayFunction } from "./backoff.ts";
import { asDuration, formatDurationMs, parseDurationMs } from "./duration.ts";
import type { ConsumerOutput } from "./schema.ts";
import { limits } from "./schema-parts.ts";

type Retry = NonNullable<ConsumerOutput["retry"]>;

/** The rules of a backoff: delays in range, a cap not below the start, and as many steps as waits. */
export function backoffRules(path: readonly PathSegment[], retry: Retry): Diagnostic[] {
  const backoff = retry.backoff;
  const place = [...path, "backoff"];
  switch (backoff.kind) {
    case "immediate":
      return [];
    case "constant":
      return delayRange([...place, "delay"], backoff.delay);
    case "steps":
      return stepsRules([...place, "delays"], backoff.delays, retry.attempts);
    case "linear":
    case "exponential": {
      const ranges = [
        ...delayRange([...place, "first"], backoff.first),
        ...(backoff.kind === "linear" && backoff.step !== undefined
          ? delayRange([...place, "step"], backoff.step)
          : []),
        ...(backoff.max === undefined ? [] : delayRange([...place, "max"], backoff.max)),
      ];
      if (ranges.length > 0) return ranges;
      return [...maxNotBelowFirst(place, backoff), ...growthInRange(place, backoff, retry.attempts)];
    }
    default:
      return backoff satisfies never;
  }
}

function delayRange(path: readonly PathSegment[], value: string): Diagnostic[] {
  const delayMs = parseDurationMs(value);
  if (delayMs >= 1 && delayMs <= limits.delayMs) return [];
  return diagnosed("RD105", {
    path,
    message: `a delay of ${value} is out of range: from 1ms to 3650d`,
    value,
    notes: ["RabbitMQ takes no time to live above ten years (rabbit_misc:check_expiry/1)"],
    help: delayMs < 1 ? 'choose at least 1ms, or backoff: { kind: "immediate" } for no delay' : "choose at most 3650d",
  });
}

function stepsRules(path: readonly PathSegment[], delays: readonly string[], attempts: number): Diagnostic[] {
  const wanted = attempts - 1;
  const ranges = delays.flatMap((delay, index) => delayRange([...path, index], delay));
  if (delays.length === wanted) return ranges;
  return [
    ...ranges,
    diagnostic("RD107", {
      path,
      message: `${attempts} attempts need exactly ${wanted} delays between them; here are ${delays.length}`,
      value: delays,
      notes: ["the first attempt is due at once, so there is one delay less than there are attempts"],
      help:
        delays.length < limits.attempts
          ? `set attempts to ${delays.length + 1}, or list ${wanted} delays`
          : `list ${wanted} delays`,
    }),
  ];
}

function maxNotBelowFirst(
  path: readonly PathSegment[],
  backoff: { readonly first: string; readonly max?: string | undefined },
): Diagnostic[] {
  if (backoff.max === undefined) return [];
  const firstMs = parseDurationMs(backoff.first);
  const maxMs = parseDurationMs(backoff.max);
  if (maxMs >= firstMs) return [];
  return diagnosed("RD106", {
    path: [...path, "max"],
    message: `max (${formatDurationMs(maxMs)}) is below first (${formatDurationMs(firstMs)})`,
    value: backoff.max,
    notes: ["every delay would be cut to max, and first would never be used"],
    help: `set max to ${backoff.first} or more, or write backoff: { kind: "constant", delay: "${backoff.max}" }`,
  });
}

/** The longest schedule without a warning. No message stays longer on Amazon SQS, and few faults. */
const longestMs = 14 * 86_400_000;

/** Warns of a schedule that takes longer than most people expect, unless the declaration limits its time. */
export function warnOfWeeks(path: readonly PathSegment[], { attempts, backoff, giveUpAfter }: Retry): Diagnostic[] {
  if (giveUpAfter !== undefined || backoff.kind === "immediate") return [];
  const lastMs = latestStartsMs({ attempts, backoff }).at(-1) ?? 0;
  if (lastMs <= longestMs) return [];
  const days = Math.ceil(lastMs / 86_400_000);
  const isCapped = backoff.kind === "constant" || backoff.kind === "steps" || backoff.max !== undefined;
  return diagnosed("RD119", {
    path: [...path, "backoff"],
    message: `the last of ${attempts} attempts starts ${upTo(backoff)}${days} days after the first`,
    value: backoff,
    notes: ["until then, a message that nobody can handle is not in the dead queue"],
    help: `${isCapped ? "use fewer attempts" : 'add max, such as max: "1h"'}${lastMs > limits.delayMs ? "" : `, or giveUpAfter: "${days}d" if you mean it`}`,
  });
}

/** Warns of attempts that `giveUpAfter` leaves out. Nobody sees in the declaration that they never run. */
export function warnOfMissingAttempts(path: readonly PathSegment[], retry: Retry): Diagnostic[] {
  const { attempts, backoff, giveUpAfter } = retry;
  if (giveUpAfter === undefined) return [];
  const giveUpAfterMs = parseDurationMs(giveUpAfter);
  const starts = latestStartsMs(retry);
  const kept = starts.filter((startMs) => startMs <= giveUpAfterMs).length;
  // Another rule refuses a limit of nothing.
  if (kept === attempts || giveUpAfterMs === 0) return [];
  const [nextMs = 0, lastMs = 0] = [starts[kept], starts.at(-1)];
  const fewer = `set attempts to ${kept}${backoff.kind === "steps" ? " and leave out the later delays" : ""}`;
  return diagnosed("RD120", {
    path: [...path, "giveUpAfter"],
    message: `giveUpAfter leaves ${kept} of ${attempts} attempts`,
    value: giveUpAfter,
    notes: [`attempt ${kept + 1} would start ${upTo(backoff)}${formatDurationMs(nextMs)} after the first`],
    help: lastMs <= limits.delayMs ? `${fewer}, or giveUpAfter to ${asDuration(lastMs)} or more` : fewer,
  });
}

function upTo(backoff: Retry["backoff"]): string {
  return "jitter" in backoff && backoff.jitter !== undefined ? "up to " : "";
}

/** The latest start of each attempt, with all of its jitter, counted from the first one. `plan` works it out again. */
function latestStartsMs({ attempts, backoff }: Pick<Retry, "attempts" | "backoff">): number[] {
  const delayOf = delayFunction(backoff as Backoff);
  const percent = "jitter" in backoff ? Number.parseInt(backoff.jitter ?? "0", 10) : 0;
  let startMs = 0;
  return Array.from({ length: attempts }, (_, index) => {
    const delayMs = index === 0 ? 0 : delayOf(index - 1);
    startMs += delayMs + Math.floor((delayMs * percent) / 100);
    return startMs;
  });
}

/** Without a cap the delays may grow beyond the limit of every broker. */
function growthInRange(
  path: readonly PathSegment[],
  backoff: Extract<Retry["backoff"], { kind: "linear" | "exponential" }>,
  attempts: number,
): Diagnostic[] {
  if (backoff.max !== undefined || attempts < 2) return [];
  const firstMs = parseDurationMs(backoff.first);
  const lastMs =
    backoff.kind === "linear"
      ? firstMs + (attempts - 2) * parseDurationMs(backoff.step ?? backoff.first)
      : firstMs * backoff.factor ** (attempts - 2);
  if (lastMs <= limits.delayMs) return [];
  return diagnosed("RD105", {
    path,
    message: `without max the delay before attempt ${attempts} grows beyond 3650d`,
    value: backoff,
    notes: ["RabbitMQ takes no time to live above ten years (rabbit_misc:check_expiry/1)"],
    help: 'add max, for example max: "1h", or use fewer attempts',
  });
}
