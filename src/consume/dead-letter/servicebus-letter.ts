import type { AnyContract, Death, LetterReader } from "./letter.ts";
import { readPath, readText } from "./read-path.ts";
import { isObject } from "./summarise.ts";

/**
 * The reasons that Service Bus itself gives; any other is what a consumer said. Source: Service Bus documentation, "Overview of Service Bus
 * dead-letter queues".
 */
const systemReasons: ReadonlySet<string> = new Set([
  "HeaderSizeExceeded",
  "MaxDeliveryCountExceeded",
  "MaxTransferHopCountExceeded",
  "Session ID is null.",
  "TTLExpiredException",
]);

/** A message as `@azure/service-bus` receives it. Nothing tells when it died: its times are those of its publishing. */
export const readServicebusLetter: LetterReader = (message, contract) => {
  const properties = readPath(message, "applicationProperties");
  const reason = readText(message, "deadLetterReason");
  if (reason === undefined && !isObject(properties)) return null;
  const isSystem = reason !== undefined && systemReasons.has(reason);
  return {
    written: (field) => {
      // The reason that the broker keeps is that of this death.
      if (field === "dlq-failure-reason" && reason !== undefined) return undefined;
      const text = readText(properties, field);
      if (field !== "dlq-exception-stack-trace-summary" || isSystem) return text;
      return text ?? readText(message, "deadLetterErrorDescription");
    },
    messageId: readText(properties, "redeliver-original-id") ?? readText(message, "messageId"),
    correlationId: readText(message, "correlationId"),
    death: reason === undefined ? null : deathOf(message, reason, contract),
    isRewritten: isSystem,
  };
};

function deathOf(message: unknown, reason: string, contract: AnyContract | undefined): Death {
  const own = contract?.protocol === "servicebus" ? contract : undefined;
  // A dead-letter queue belongs to one entity; the message names it only where it was forwarded from there.
  const queue = own?.workQueue ?? readText(message, "deadLetterSource");
  const known =
    reason === "MaxDeliveryCountExceeded" ? spent(own) : reason === "TTLExpiredException" ? "EXPIRED" : reason;
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(known === undefined ? {} : { reason: known }),
    ...(known === "ATTEMPTS_EXHAUSTED" && own !== undefined ? { attempts: own.attempts.length } : {}),
  };
}

/** Deliveries are attempts where the consumer abandons what has failed, and crashes alone where it sends a copy. */
function spent(contract: Extract<AnyContract, { readonly protocol: "servicebus" }> | undefined) {
  if (contract === undefined) return undefined;
  const { transient } = contract.outcomes;
  const last = "byAttempt" in transient ? (transient.byAttempt.at(-1) ?? []) : transient;
  return last.some(({ operation }) => operation === "abandon") ? "ATTEMPTS_EXHAUSTED" : "CRASH_LIMIT";
}
