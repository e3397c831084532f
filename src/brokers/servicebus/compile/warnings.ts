import { formatDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type StrategyName, servicebusDefaults } from "./capabilities.ts";
import type { StrategyInput } from "./strategies/strategy.ts";
import { warnOfNoTimeout, warnOfReturns } from "../../../contract/shared-problems.ts";

/** @param isCounted true if a returned message costs an attempt; otherwise it costs crash budget */
function returnedWarning({ plan, retry }: StrategyInput, isCounted: boolean): Diagnostic {
  const budget = isCounted ? retry.attempts.length : retry.crashDeliveries;
  const field = isCounted || !retry.crashDeclared ? "retry.attempts" : "crash.deliveries";
  const edit = isCounted
    ? "raise retry.attempts"
    : `${retry.crashDeclared ? "raise crash.deliveries" : "declare crash.deliveries"} above ${budget}`;
  return warnOfReturns({
    path: ["consumers", plan.consumer, ...field.split(".")],
    deliveries: budget,
    of: isCounted ? "failure" : "crash",
    isCertain: false,
    value: field === "retry.attempts" ? (retry.giveUpAfter?.declaredAttempts ?? retry.attempts.length) : budget,
    notes: [
      "the consumer releases it, and the maintainers of Service Bus say that this counts nothing; this project has not tried it, and an abandon, for clients that cannot release, counts",
      ...(isCounted || retry.crashDeclared
        ? []
        : ["no crash.deliveries is declared, so the crash budget of an attempt is the number of attempts"]),
    ],
    edit,
  });
}

/** Warns of promises that hold on Service Bus only with a consequence. */
export function consumerWarnings(input: StrategyInput, strategy: StrategyName): Diagnostic[] {
  const { plan, target } = input;
  const path = ["consumers", plan.consumer];
  // According to the documentation, closing a session counts nothing.
  const found = input.sessions ? [] : [returnedWarning(input, strategy === "immediate")];
  if (plan.handlerTimeoutMs === null) {
    const note = "the SDKs renew a lock for a fixed time; their default is 5 minutes";
    found.push(warnOfNoTimeout(plan, servicebusDefaults.renewalMs, note));
  }
  if (strategy === "ttl-tier") {
    found.push(
      diagnostic("RD715", {
        path: [...path, "retry", "backoff"],
        message: "ttl-tier does not limit how late an attempt is, and does not ensure all attempts of a message",
        notes: [
          "Service Bus promises no time at which a message expires",
          "a copy keeps the time to live of its tier in the work queue, where it runs again: a message that waits there as long dies",
        ],
        help: "use strategy scheduled, or auto",
      }),
    );
  }
  if (input.sessions && target.deadQueue === "shared") {
    found.push(
      diagnostic("RD723", {
        path: "target.deadQueue",
        message: `no page documents whether Service Bus forwards dead letters of sessions, as those of ${plan.consumer} are to ${input.deadQueue}`,
        value: target.deadQueue,
        notes: ['Service Bus documentation, "Chaining Service Bus entities with autoforwarding": not with sessions'],
        help: "deploy it to a namespace for tests first, or leave deadQueue out",
      }),
    );
  }
  const windowMs = target.duplicateDetectionMs;
  if (windowMs !== null && input.inSubscription) {
    found.push(
      diagnostic("RD724", {
        path: "target.duplicates",
        message: `nothing detects duplicates for ${plan.consumer}, which receives from its subscription`,
        value: formatDurationMs(windowMs),
        notes: ["with order it has no work queue, and a subscription has no duplicate detection"],
        help: `handle each message once in the code of ${plan.consumer}, and name the other consumers in a mapping`,
      }),
    );
  } else if (windowMs !== null && windowMs < target.lockMs) {
    found.push(
      diagnostic("RD716", {
        path: "target.duplicates",
        message: `the ids of messages are remembered for ${formatDurationMs(windowMs)}, and a crashed delivery comes back after ${formatDurationMs(target.lockMs)}`,
        value: formatDurationMs(windowMs),
        notes: ["a copy that is scheduled a second time then is not detected as a duplicate"],
        help: "choose a window that is longer than the lock",
      }),
    );
  }
  return found;
}
