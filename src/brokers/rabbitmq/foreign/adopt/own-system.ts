import {
  deadExchange,
  failedExchange,
  reservedKeyPrefix,
  schedulePrefix,
  sharedRole,
  undeliverable,
} from "../../compile/names.ts";
import type { BrokerTopology, EffectiveSettings } from "../../prove/semantics.ts";

/** The system that a work queue belongs to, and its strategy as far as it shows. */
export type OwnSystem = NonNullable<ReturnType<typeof ownSystemOf>>;

/** Finds the system of a queue that Redeliver made, by the exchange that it dead-letters to. Null for other queues. */
export function ownSystemOf(topology: BrokerTopology, settings: EffectiveSettings) {
  const { queue, deadLetterExchange: exchange, deadLetterRoutingKey: key, deadLetterStrategy } = settings;
  // Only a work queue of Redeliver's dead-letters with its own name as the key, and never loses a letter on the way.
  if (exchange === null || key !== queue || deadLetterStrategy !== "at-least-once") return null;
  const policyOf = (name: string) => topology.policies.find((each) => each.kind === "user" && each.name === name);
  if (policyOf(queue)?.definition["overflow"] !== "reject-publish") return null;
  if (exchange === failedExchange(queue)) {
    const next = policyOf(exchange)?.definition["alternate-exchange"];
    const systems = topology.exchanges.flatMap(({ name }) =>
      name.endsWith(deadExchange("")) ? [name.slice(0, -deadExchange("").length)] : [],
    );
    const system = systems.find(
      (each) => typeof next === "string" && (next === deadExchange(each) || next.startsWith(schedulePrefix(each))),
    );
    return system === undefined ? null : { system, strategy: "staged" };
  }
  if (!exchange.endsWith(deadExchange("")) || exchange === deadExchange("")) return null;
  const isNative = policyOf(queue)?.definition["delayed-retry-type"] !== undefined;
  const isCopied = topology.bindings.some(
    ({ destination, routingKey }) => destination === queue && routingKey.startsWith(reservedKeyPrefix),
  );
  const strategy = isNative ? "native" : isCopied ? "waits" : null;
  return { system: exchange.slice(0, -deadExchange("").length), strategy };
}

/** True for the waiting queues and dead queues of a system. */
export function isPartOf(
  { bindings }: BrokerTopology,
  { queue, deadLetterExchange }: EffectiveSettings,
  system: string,
): boolean {
  if (queue === undeliverable(system)) return true;
  if (deadLetterExchange !== null) return sharedRole(system, deadLetterExchange) !== null;
  return bindings.some(({ source, destination }) => source === deadExchange(system) && destination === queue);
}
