/**
 * The behaviour of Service Bus on one message, as functions. docs/servicebus-claims.md has each rule with its source.
 *
 * @example
 * const semantics = semanticsOf(topology);
 * const content = { messageId: "1", sessionId: null, subject: "order.placed", properties: {} };
 * const [copies] = semantics.send({ to: "shop.orders", content, timeToLiveMs: null, scheduled: false });
 * const [delivered] = semantics.step(copies[0], { kind: "deliver" });
 */
export type * from "./semantics/message-state.ts";
export { type Semantics, semanticsOf } from "./semantics/semantics.ts";
