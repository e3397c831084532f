import { formatDurationMs } from "../../declare/duration.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { StrategyName } from "./capabilities.ts";
import { servicebusDefaults } from "./capabilities.ts";
import type { StrategyInput } from "./strategies/strategy.ts";
import { count } from "./strategies/strategy.ts";

/** @param isCounted whether a returned message costs an attempt; if not, it costs crash budget */
function returnedWarning({ plan, retry }: StrategyInput, isCounted: boolean): Diagnostic {
  const budget = isCounted ? retry.attempts.length : retry.crashDeliveries;
  const field = isCounted || !retry.crashDeclared ? "retry.attempts" : "crash.deliveries";
  const edit = isCounted
    ? "raise retry.attempts"
    : `${retry.crashDeclared ? "raise crash.deliveries" : "declare crash.deliveries"} above ${budget}`;
  return diagnostic("RD713", {
    path: ["consumers", plan.consumer, ...field.split(".")],
    message: `a message that is handed back ${count(budget, "time")} may be dead, like after ${count(budget, isCounted ? "failure" : "crash", isCounted ? "failures" : "crashes")}`,
    value: field === "retry.attempts" ? (retry.giveUpAfter?.declaredAttempts ?? retry.attempts.length) : budget,
    notes: [
      "it is released, of which the maintainers of Service Bus say that it counts nothing; nobody has tried it for this project, and an abandon, in its place where a client cannot release, counts",
      ...(isCounted || retry.crashDeclared
        ? []
        : ["no crash.deliveries is declared, so the crash budget of an attempt is the number of attempts"]),
    ],
    help: `receive no more messages than are handled at once, so that a shutdown returns few, or ${edit}`,
  });
}

/** What holds on Service Bus only with a consequence that the user ought to know. */
export function consumerWarnings(input: StrategyInput, strategy: StrategyName): Diagnostic[] {
  const { plan, target } = input;
  const path = ["consumers", plan.consumer];
  // A session that is closed counts nothing, by the documentation.
  const found = input.sessions ? [] : [returnedWarning(input, strategy === "immediate")];
  if (plan.handlerTimeoutMs === null) {
    found.push(
      diagnostic("RD714", {
        path,
        message: `no handlerTimeout is declared, so a message goes to somebody else ${formatDurationMs(servicebusDefaults.renewalMs)} after its receive, even while its handler runs`,
        notes: ["the SDKs renew a lock for as long as they are told; 5 minutes is their own default"],
        help: 'declare how long the handler may run, for example handlerTimeout: "30s"',
      }),
    );
  }
  if (strategy === "ttl-tier") {
    found.push(
      diagnostic("RD715", {
        path: [...path, "retry", "backoff"],
        message: "with ttl-tier nobody says how late an attempt is, nor that a message has all of its attempts",
        notes: [
          "Service Bus expires messages when it comes to it, and names no time",
          "a copy carries the time to live of its tier into the work queue, where it runs again: what nobody receives for as long is dead",
        ],
        help: "use strategy scheduled, or auto",
      }),
    );
  }
  if (input.sessions && target.deadQueue === "shared") {
    found.push(
      diagnostic("RD723", {
        path: "target.deadQueue",
        message: `nobody documents whether dead letters of sessions are forwarded, as those of ${plan.consumer} are to ${input.deadQueue}`,
        value: target.deadQueue,
        notes: ['Service Bus documentation, "Chaining Service Bus entities with autoforwarding": not with sessions'],
        help: "deploy it to a namespace for tests first, or leave deadQueue out",
      }),
    );
  }
  const windowMs = target.duplicateDetectionMs;
  if (windowMs !== null && windowMs < target.lockMs) {
    found.push(
      diagnostic("RD716", {
        path: "target.duplicates",
        message: `the ids of messages are remembered for ${formatDurationMs(windowMs)}, and a crashed delivery comes back after ${formatDurationMs(target.lockMs)}`,
        value: formatDurationMs(windowMs),
        notes: ["a copy that is scheduled a second time by then is not seen to be a duplicate"],
        help: "choose a window that is longer than the lock",
      }),
    );
  }
  return found;
}
