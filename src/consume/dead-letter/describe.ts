import { type DeadLetterField, deadLetterFields } from "./fields.ts";
import type { AnyContract, Letter, LetterReader } from "./letter.ts";
import { readAmqplibLetter, readRheaLetter } from "./rabbitmq-letter.ts";
import { readServicebusLetter } from "./servicebus-letter.ts";
import { readSqsLetter } from "./sqs-letter.ts";

const readers: readonly LetterReader[] = [readServicebusLetter, readSqsLetter, readAmqplibLetter, readRheaLetter];

/** What is known of a dead letter's end. */
export type DeadLetterDescription = Readonly<Partial<Record<DeadLetterField, string>>>;

/**
 * What a dead letter says of its end: what its consumer wrote, and where the broker ended it by itself, what follows from what the broker
 * recorded. A field that is not certain is left out, so is a time that nobody recorded. Of a letter of RabbitMQ's `native` the reason is that of the
 * contract, `PERMANENT_FAILURE`: what the handler gave to `permanent` is on no letter that the broker moved for an AMQP 0-9-1 consumer. It never throws.
 *
 * @param letter a message of the dead queue, as amqplib, rhea, the AWS SDK or that of Service Bus gives it
 * @param contract of the consumer that the dead queue belongs to: a spent crash budget and a failed last attempt are told apart only with it
 */
export function describeDeadLetter(letter: unknown, contract?: AnyContract): DeadLetterDescription {
  try {
    for (const read of readers) {
      const found = read(letter, contract);
      if (found !== null) return Object.freeze(describe(found));
    }
  } catch {
    // What throws when it is looked at is no message of any client library.
  }
  return Object.freeze({});
}

function describe({ written, death, messageId, correlationId, isRewritten }: Letter): DeadLetterDescription {
  const found = deadLetterFields.map((field) => [field, isRewritten ? undefined : written(field)] as const);
  const told: Partial<Record<DeadLetterField, string | undefined>> = Object.fromEntries(found);
  // A consumer that gave a reason ended the message itself: what the broker recorded was before that.
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
