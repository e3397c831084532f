import { brokerVersions } from "./broker-images.ts";

export type Strategy = "native" | "deferred" | "staged" | "waits";

/** The strategies that RabbitMQ of a version has, in the order that `auto` tries them. */
export function strategiesOn(version: string): readonly Strategy[] {
  if (version === "4.3") return ["native", "deferred", "staged", "waits"];
  return version === "3.10" ? ["waits"] : ["staged", "waits"];
}

/** Every strategy on every version that has it. */
export const versionsWithStrategies = brokerVersions.map((version) => ({ version, strategies: strategiesOn(version) }));

/** One strategy for each protocol that a version has. */
export function oneForEachProtocol(version: string): readonly ("waits" | "deferred")[] {
  return version === "4.3" ? ["waits", "deferred"] : ["waits"];
}

export function speaksAmqp091(strategy: Strategy): strategy is Exclude<Strategy, "deferred"> {
  return strategy !== "deferred";
}

/** A strategy under which messages wait in queues of their own. */
export function withQueues(version: string): "staged" | "waits" {
  return version === "3.10" ? "waits" : "staged";
}

/** Under the other strategies a consumer only settles messages. */
export function publishesCopies(strategy: Strategy): strategy is "staged" | "waits" {
  return strategy === "staged" || strategy === "waits";
}
