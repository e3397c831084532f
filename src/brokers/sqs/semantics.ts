/**
 * What SQS, with SNS in front of it, does to one message, executable. Each rule is a claim with its source: `claims`.
 *
 * @example
 * const semantics = semanticsOf(topology);
 * const [copies] = semantics.publish({ topic: "shop-orders", attributes: { "routing-key": "order.placed" } });
 * const [received] = semantics.step(copies[0], { kind: "receive" });
 */
export type {
  Circumstances,
  LossCause,
  MessageState,
  Outcome,
  Place,
  Publication,
  SentMessage,
  SqsEvent,
  Visibility,
} from "./semantics/message-state.ts";
export type { Claim, ClaimName, Emulator } from "./semantics/claims.ts";
export { claims, proofOf } from "./semantics/claims.ts";
export type { Semantics } from "./semantics/semantics.ts";
export { semanticsOf } from "./semantics/semantics.ts";
