import type { AnyContract, Death, LetterReader } from "./letter.ts";
import { readPath, readText } from "./read-path.ts";
import { read } from "./summarise.ts";

type ServicebusContract = Extract<AnyContract, { readonly protocol: "servicebus" }>;

/**
 * What Service Bus itself gives as the reason. Any other one was written by whoever dead-lettered the message.
 * Source: Service Bus documentation, "Overview of Service Bus dead-letter queues".
 */
const ownReasons = new Set([
  "MaxDeliveryCountExceeded",
  "TTLExpiredException",
  "HeaderSizeExceeded",
  "MaxTransferHopCountExceeded",
  "Session ID is null.",
]);

/** A message as `@azure/service-bus` receives it from a dead-letter queue, or from the queue that dead letters are forwarded to. */
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
    // What a consumer wrote on an earlier letter that was sent back stays on the message.
    isRewritten: isOwn,
  };
};

/** @param source the queue that the letter was forwarded from; unknown where it is still in that queue's own dead-letter queue */
function deathBy(reason: string, source: string | undefined, contract: AnyContract | undefined): Death {
  const ours = contract?.protocol === "servicebus" && (source ?? contract.workQueue) === contract.workQueue;
  const queue = source ?? (ours ? contract.workQueue : undefined);
  return { ...(queue === undefined ? {} : { queue }), ...causeOf(reason, ours ? contract : null) };
}

function causeOf(reason: string, contract: ServicebusContract | null): Pick<Death, "reason" | "attempts"> {
  if (reason === "TTLExpiredException") return { reason: "EXPIRED" };
  if (reason !== "MaxDeliveryCountExceeded" || contract === null) return {};
  // Where the delivery count is the attempt number, a crash is an attempt like any other.
  return readPath(contract, "attemptNumber", "from") === "delivery-count"
    ? { reason: "ATTEMPTS_EXHAUSTED", attempts: contract.attempts.length }
    : { reason: "CRASH_LIMIT" };
}
