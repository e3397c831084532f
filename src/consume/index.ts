import "../node/required.ts";
export { consume } from "./consume.ts";
export { type DeadLetterDescription, describeDeadLetter } from "./dead-letter/describe.ts";
export type { DeadLetterField, ReasonCode } from "./port/dead-letter-fields.ts";
export type { ConsumerInfo, Redact } from "./dead-letter/metadata.ts";
export type { ConsumeEvent } from "./port/event.ts";
export { permanent, retryAfter } from "./failure.ts";
export { createMemoryStore } from "./idempotency/memory-store.ts";
export { type OnceOptions, once } from "./idempotency/once.ts";
export type { IdempotencyStore } from "./idempotency/store.ts";
export type { Attempt, BodySchema, Handler, Message } from "./message.ts";
export type { ConsumeOptions } from "./options.ts";
export type { BodyFormat } from "./read-body.ts";
export type { Health, Running } from "./run-consumer.ts";
export type {
  BrokerName as ConsumableName,
  ConnectionOf,
  RabbitmqConnection,
  RabbitmqCredentials,
  ServicebusConnection,
  ServicebusCredential,
  SqsConnection,
  SqsCredentials,
} from "../brokers/index.ts";
export type { Telemetry } from "./telemetry.ts";
