import type { AnyContract } from "../../../contract/contract.ts";
import type { Death, LetterReader } from "../../../consume/port/dead-letter.ts";
import { read, readPath, readText } from "../../../consume/port/read-path.ts";

/**
 * The reasons that Service Bus itself gives. A client that dead-lettered the message wrote any other. Source: Service
 * Bus documentation, "Overview of Service Bus dead-letter queues".
 */
const ownReasons = new Set([
  "MaxDeliveryCountExceeded",
  "TTLExpiredException",
  "HeaderSizeExceeded",
  "MaxTransferHopCountExceeded",
  "Session ID is null.",
]);

/**
 * A message as `@azure/service-bus` receives it, from a dead-letter queue or from the queue to which dead letters are
 * forwarded.
 */
export const readServicebusLetter: LetterReader = (message, contract) => {
  if (typeof read(message, "_rawAmqpMessage") !== "object") return null;
  const properties = read(message, "applicationProperties");
  const reason = readText(properties, "DeadLetterReason");
  const isOwn = reason !== undefined && ownReasons.has(reason);
  return {
    written: (field) => readText(properties, field) ?? (field === "dlq-failure-reason" ? reason : undefined),
    messageId: readText(properties, "redeliver-original-id") ?? readText(message, "messageId"),
    correlationId: readText(message, "correlationId"),
    death: isOwn ? deathBy(reason, readText(message, "deadLetterSource"), contract) : null,
    // If an earlier letter was sent again, its fields stay on the message.
    isRewritten: isOwn,
  };
};

/**
 * @param source the queue that forwarded the letter. Unknown if the letter is still in that queue's own dead-letter
 *   queue
 */
function deathBy(reason: string, source: string | undefined, contract: AnyContract | undefined): Death {
  const ours = contract?.protocol === "servicebus" && (source ?? contract.workQueue) === contract.workQueue;
  const queue = source ?? (ours ? contract.workQueue : null);
  return { ...(queue === null ? {} : { queue }), ...causeOf(reason, ours ? contract : null) };
}

function causeOf(reason: string, contract: AnyContract | null): Pick<Death, "reason" | "attempts"> {
  if (reason === "TTLExpiredException") return { reason: "EXPIRED" };
  if (reason !== "MaxDeliveryCountExceeded" || contract === null) return {};
  // If the delivery count is the attempt number, a crash is an attempt like any other.
  return readPath(contract, "attemptNumber", "from") === "delivery-count"
    ? { reason: "ATTEMPTS_EXHAUSTED", attempts: contract.attempts.length }
    : { reason: "CRASH_LIMIT" };
}
