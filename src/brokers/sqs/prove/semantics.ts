/**
 * The behaviour of SQS behind SNS on one message, as functions. docs/sqs-claims.md has each rule with its source.
 *
 * @example
 * const semantics = semanticsOf(topology);
 * const [copies] = semantics.publish({ topic: "shop-orders", attributes: { "routing-key": "order.placed" } });
 * const [received] = semantics.step(copies[0], { kind: "receive" });
 */
export type * from "./semantics/message-state.ts";
export { type Semantics, semanticsOf } from "./semantics/semantics.ts";
