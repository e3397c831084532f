/**
 * The behaviour of each RabbitMQ version on one message, as functions.
 *
 * @example
 * const semantics = semanticsOf(topology, "4.3.1");
 * const [copies] = semantics.publish({ exchange: "orders", routingKey: "order.placed" });
 * const [delivered] = semantics.step(copies[0], { kind: "deliver" });
 */
export * from "./semantics/broker-topology.ts";
export * from "./semantics/message-state.ts";
export { type Semantics, semanticsOf } from "./semantics/semantics.ts";
export {
  type PolicyIndex,
  alternatesByPolicy,
  definitionInForce,
  exchangePolicyInForce,
  highest,
  indexPolicies,
  policiesFor,
  policiesForExchange,
  policiesNaming,
} from "./semantics/policies.ts";
export { isPatternReadable } from "../compile/policy-pattern.ts";
export * from "./semantics/version.ts";
