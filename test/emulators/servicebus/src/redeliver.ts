// The part of Redeliver that the emulator uses. The semantics of the proof decides the fate of each message.
export { servicebusLimits, type Sku } from "../../../../src/brokers/servicebus/compile/capabilities.ts";
export type {
  RuleFilter,
  ServicebusQueue,
  ServicebusSubscription,
} from "../../../../src/brokers/servicebus/compile/topology.ts";
export type {
  Circumstances,
  DeadLetterReason,
  MessageContent,
  MessageState,
  Outcome,
  ServicebusEvent,
} from "../../../../src/brokers/servicebus/prove/semantics/message-state.ts";
export { type Semantics, semanticsOf } from "../../../../src/brokers/servicebus/prove/semantics/semantics.ts";
export { readSqlFilter } from "../../../../src/brokers/servicebus/prove/semantics/sql-filter.ts";
export type { Rule } from "../../../support/semantics-rule.ts";
export { type ClaimName, claims } from "../../../support/servicebus/claims.ts";
