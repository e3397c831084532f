/**
 * What Service Bus does to one message, executable. Each rule is a claim with its source: `claims`.
 *
 * @example
 * const semantics = semanticsOf(topology);
 * const content = { messageId: "1", sessionId: null, subject: "order.placed", properties: {} };
 * const [copies] = semantics.send({ to: "shop.orders", content, timeToLiveMs: null, scheduled: false });
 * const [delivered] = semantics.step(copies[0], { kind: "deliver" });
 */
export type {
  Circumstances,
  DeadLetterReason,
  EntityPlace,
  LossCause,
  MessageContent,
  MessageState,
  Outcome,
  Place,
  SentMessage,
  ServicebusEvent,
} from "./semantics/message-state.ts";
export type { Claim, ClaimName } from "./semantics/claims.ts";
export { claims } from "./semantics/claims.ts";
export type { Semantics } from "./semantics/semantics.ts";
export { semanticsOf } from "./semantics/semantics.ts";
