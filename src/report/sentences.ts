import { count } from "../contract/in-words.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { type ConsumerPlan, chosenText, isDirect, type RetryPlan } from "../plan/plan.ts";
import type { Contract } from "./operations.ts";

/** A duration, or the two between which it lies: `30s`, `30s … 36s`. */
export function formatRangeMs(fromMs: number, toMs: number): string {
  return fromMs === toMs ? formatDurationMs(fromMs) : `${formatDurationMs(fromMs)} … ${formatDurationMs(toMs)}`;
}

/** The waits between the attempts, in order: `1s, 2s, 4s, 8s`. No line breaks inside a duration. */
export function delaysOf(retry: RetryPlan): string {
  const delays = retry.attempts.slice(1).map((each) => unbroken(formatDurationMs(each.delayMs)));
  const [first] = delays;
  if (first === undefined) return "no retry";
  if (retry.attempts.every((each) => each.delayMs === 0)) return "at once";
  const jitter = retry.jitterPercent === 0 ? "" : `, and up to ${unbroken(`${retry.jitterPercent} %`)} more`;
  if (delays.length > 1 && delays.every((each) => each === first)) return `${first} each${jitter}`;
  const shown = delays.length <= 8 ? delays : [...delays.slice(0, 4), "…", ...delays.slice(-2)];
  return shown.join(", ") + jitter;
}

/**
 * The longest way of a message to the dead queue: `≤ 7m 45s`, or `48m + handlers` if they may take any time.
 *
 * @param contract of the consumer on a target, because some brokers bound every attempt anyway
 */
export function worstCaseOf(plan: ConsumerPlan, retry: RetryPlan, contract?: Contract): string {
  const { isBounded, durationMs } = worstCaseMsOf(plan, retry, contract);
  const worst = unbroken(formatDurationMs(durationMs));
  return isBounded ? `≤ ${worst}` : `${worst} + handlers`;
}

/** The same as a number, and whether it includes the time of the handlers. */
export function worstCaseMsOf(plan: ConsumerPlan, retry: RetryPlan, contract?: Contract) {
  if (contract !== undefined && "worstCaseToDeadLetterMs" in contract)
    return { isBounded: true, durationMs: contract.worstCaseToDeadLetterMs };
  return { isBounded: plan.handlerTimeoutMs !== null, durationMs: retry.worstCaseToDeadLetterMs };
}

function unbroken(text: string): string {
  return text.replaceAll(" ", "\u00a0");
}

/** The origin of messages without a source. */
export const directly = "producers, straight to its queue";

function takenText(plan: ConsumerPlan, source: string, keys: readonly string[] | "all"): string {
  return chosenText(plan, source) ?? (keys === "all" ? "all" : keys.join(", "));
}

/** The origin of a consumer's messages: `orders (order.placed, order.cancelled)`. */
export function originOf(plan: ConsumerPlan): string {
  if (isDirect(plan)) return directly;
  return Object.entries(plan.from)
    .map(([source, keys]) => `${source} (${takenText(plan, source, keys)})`)
    .join(", ");
}

/** The sentences of a plan beside its timeline, in the order in which people ask. With a contract, also for its target. */
export function sentencesOf(plan: ConsumerPlan, retry: RetryPlan, contract?: Contract) {
  return [
    { term: "dead queue", text: deadSentence(plan, retry) },
    { term: "deliveries", text: deliveriesSentence(retry, contract) },
    { term: "crash budget", text: crashSentence(retry) },
    ...(retry.giveUpAfter === null ? [] : [{ term: "give up", text: giveUpSentence(retry, retry.giveUpAfter) }]),
    ...(retry.retryAfterMaxMs === null
      ? []
      : [
          {
            term: "retry after",
            text: `a handler may ask for its own delay, up to ${formatDurationMs(retry.retryAfterMaxMs)}`,
          },
        ]),
    ...(retry.permanentErrors.length === 0 ? [] : [{ term: "permanent", text: retry.permanentErrors.join(", ") }]),
    ...(retry.retainMs === null
      ? []
      : [{ term: "retention", text: `dead letters are kept for ${formatDurationMs(retry.retainMs)}` }]),
    ...(retry.alarmAbove === null
      ? []
      : [{ term: "alarm", text: `on more than ${count(retry.alarmAbove, "dead letter")}` }]),
  ];
}

function deadSentence(plan: ConsumerPlan, retry: RetryPlan): string {
  const earliestMs = retry.attempts.at(-1)?.dueMs ?? 0;
  const timeout =
    plan.handlerTimeoutMs === null
      ? "the handler's own time not counted: no handlerTimeout is declared"
      : `with ${formatDurationMs(plan.handlerTimeoutMs)} for every delivery`;
  return `after ${formatDurationMs(earliestMs)} at the earliest, ${formatDurationMs(retry.worstCaseToDeadLetterMs)} in the worst case (${timeout})`;
}

function deliveriesSentence(retry: RetryPlan, contract?: Contract): string {
  const each = count(retry.crashDeliveries, "delivery", "deliveries");
  return `${contract === undefined ? "" : `${contract.maxDeliveries} at most on ${contract.target}, as check proves; `}${retry.maxDeliveries} at most on any broker: ${count(retry.attempts.length, "attempt")} of ${each}, if its consumer crashes`;
}

export function crashSentence(retry: RetryPlan): string {
  const declared = retry.crashDeclared ? "" : " (not declared: as many as attempts)";
  return `${count(retry.crashDeliveries, "crash", "crashes")}, then dead${declared}`;
}

export function giveUpSentence(retry: RetryPlan, giveUp: NonNullable<RetryPlan["giveUpAfter"]>): string {
  const kept = retry.attempts.length;
  const after = formatDurationMs(giveUp.afterMs);
  return kept === giveUp.declaredAttempts
    ? `all ${count(kept, "attempt")} are due within ${after}`
    : `${kept} of ${count(giveUp.declaredAttempts, "attempt")}: the rest would be due after ${after}`;
}
