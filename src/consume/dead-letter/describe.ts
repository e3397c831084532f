import { type DeadLetterField, deadLetterFields } from "../port/dead-letter-fields.ts";
import { brokers } from "../../brokers/index.ts";
import type { AnyContract } from "../../contract/contract.ts";
import type { Letter } from "../port/dead-letter.ts";

const readers = Object.values(brokers).flatMap(({ consuming }) => consuming.letterReaders);

/** The known facts about a dead letter's end. */
export type DeadLetterDescription = Readonly<Partial<Record<DeadLetterField, string>>>;

/**
 * Reads a dead letter's end from the fields that its consumer wrote. If the broker ended it, the broker's records
 * count. An uncertain field is left out, and so is an unrecorded time. A letter of RabbitMQ's `native` has the
 * contract's reason `PERMANENT_FAILURE`. A letter that the broker moved for an AMQP 0-9-1 consumer does not hold the
 * handler's reason for `permanent`. It never throws.
 *
 * @param letter a message of the dead queue, as amqplib, rhea, the AWS SDK or that of Service Bus gives it
 * @param contract of the consumer that the dead queue belongs to. Only it can tell a spent crash budget from a failed
 *   last attempt
 */
export function describeDeadLetter(letter: unknown, contract?: AnyContract): DeadLetterDescription {
  try {
    for (const read of readers) {
      const found = read(letter, contract);
      if (found !== null) return Object.freeze(describe(found));
    }
  } catch {
    // A value that throws when it is read is no message of any client library.
  }
  return Object.freeze({});
}

function describe({ written, death, messageId, correlationId, isRewritten }: Letter): DeadLetterDescription {
  const found = deadLetterFields.map((field) => [field, isRewritten ? undefined : written(field)] as const);
  const told: Partial<Record<DeadLetterField, string | undefined>> = Object.fromEntries(found);
  // A consumer that gave a reason ended the message itself. The broker's record is older.
  const end = told["dlq-failure-reason"] === undefined ? death : null;
  const described: Readonly<Record<DeadLetterField, string | undefined>> = {
    "dlq-original-queue": told["dlq-original-queue"] ?? end?.queue,
    "dlq-failure-reason": told["dlq-failure-reason"] ?? end?.reason,
    "dlq-failure-timestamp": told["dlq-failure-timestamp"] ?? end?.at?.toISOString(),
    "dlq-retry-count": told["dlq-retry-count"] ?? end?.attempts?.toString(),
    "dlq-original-message-id": told["dlq-original-message-id"] ?? messageId,
    "dlq-business-correlation-id": told["dlq-business-correlation-id"] ?? correlationId,
    "dlq-exception-stack-trace-summary": told["dlq-exception-stack-trace-summary"],
    "dlq-failing-consumer-info": told["dlq-failing-consumer-info"],
  };
  return Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined));
}
