/**
 * What each version of RabbitMQ does to one message, executable.
 *
 * @example
 * const semantics = semanticsOf(topology, "4.3.1");
 * const [copies] = semantics.publish({ exchange: "orders", routingKey: "order.placed" });
 * const [delivered] = semantics.step(copies[0], { kind: "deliver" });
 */
export type {
  Arguments,
  BrokerBinding,
  BrokerExchange,
  BrokerPolicy,
  BrokerQueue,
  BrokerTopology,
  DelayedRetry,
  EffectiveSettings,
  IgnoredSetting,
} from "./semantics/broker-topology.ts";
export type {
  BrokerEvent,
  Circumstances,
  Death,
  DeathReason,
  DeathSummary,
  Headers,
  HeaderValue,
  LossCause,
  MessageState,
  Outcome,
  Place,
  Publication,
} from "./semantics/message-state.ts";
export { brokerTopologyOf } from "./semantics/broker-topology.ts";
export type { DeliveryHeaders } from "./semantics/delivery-headers.ts";
export type { Semantics } from "./semantics/semantics.ts";
export { semanticsOf } from "./semantics/semantics.ts";
export { cyclesOf } from "./semantics/cycles.ts";
export { alternatesByPolicy, indexPolicies, policiesFor, policiesNaming } from "./semantics/policies.ts";
export { isPatternReadable } from "./semantics/policy-pattern.ts";
export { effectiveSettings } from "./semantics/settings.ts";
export { stateKey } from "./semantics/state-key.ts";
export type { SemanticsVersion, VersionRules } from "./semantics/version.ts";
export { semanticsVersionOf, semanticsVersions, versionRules } from "./semantics/version.ts";
