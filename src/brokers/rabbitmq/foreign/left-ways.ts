import { isDeepStrictEqual } from "node:util";

import type { RabbitmqCompiled } from "../compile/compile.ts";
import { type FoundBinding, bindingKey, namesIn } from "../compile/differences.ts";
import {
  againExchange,
  attemptExchange,
  attemptExchangePrefix,
  attemptKeyPrefix,
  deadExchange,
  prefixOf,
  sharedRole,
  tierPrefix,
} from "../compile/names.ts";
import type { BrokerBinding, BrokerTopology } from "../prove/semantics.ts";
import { ownResources } from "./own-resources.ts";

/**
 * The undeclared bindings that another declaration of the system has. A deployment deletes none of them, because messages
 * may wait there. No message of the declared system takes one of them.
 *
 * A binding that doubles or diverts such messages is none of them: a person must have added it.
 */
export function leftWays(found: BrokerTopology, compiled: RabbitmqCompiled): readonly BrokerBinding[] {
  const { topology } = compiled;
  const prefix = prefixOf(topology);
  const declared = namesIn(topology).exchange;
  const wanted = new Set(topology.bindings.map(bindingKey));
  const roles = new Map(topology.queues.map(({ name, role }) => [name, role]));
  const isWork = (name: string): boolean => roles.get(name) === "work";
  // To look at each queue of a large broker takes long.
  const ends = new Set(
    found.bindings
      .filter(({ source }) => source === deadExchange(prefix) || source === againExchange(prefix))
      .flatMap(({ destination, routingKey }) => [destination, routingKey]),
  );
  const undeclared = found.queues.filter(({ name }) => ends.has(name) && !roles.has(name));
  const isOwn = ownResources({ ...found, queues: undeclared }, compiled, []).queue;
  const isLeft = (each: BrokerBinding): boolean => {
    const { source, destination, destinationKind, routingKey, arguments: given } = each;
    const isToQueue = destinationKind === "queue";
    const isPlain = Object.keys(given).length === 0;
    const role = sharedRole(prefix, source);
    if (role === "dead") return isToQueue && isPlain && !isWork(routingKey) && endsLetters(each);
    if (role === "again") {
      const isKey = routingKey === destination || numberAfter(attemptKeyPrefix(destination), routingKey) !== null;
      return isToQueue && isPlain && isKey && (isWork(destination) || isOwn(destination));
    }
    // Other exchanges have all of their bindings from one declaration.
    if (declared.has(source) || routingKey !== "") return false;
    if (role === "attempt") return isPlain && !isToQueue && destination === againExchange(prefix);
    const failed = numberAfter(attemptExchangePrefix(prefix), String(given["x-last-death-exchange"]));
    if (role !== "attempts" || failed === null) return false;
    const after = { "x-match": "all-with-x", "x-last-death-exchange": attemptExchange(prefix, failed) };
    const isNext = isToQueue
      ? destination.startsWith(tierPrefix(prefix, failed + 1))
      : destination === deadExchange(prefix);
    return isNext && isDeepStrictEqual({ ...given }, after);
  };
  /** A declared dead queue may have been that of another work queue before. Then it is the only one of its letters. */
  const endsLetters = ({ source, destination, routingKey }: BrokerBinding): boolean =>
    isOwn(destination) ||
    (roles.get(destination) === "dead" &&
      isOwn(routingKey) &&
      found.bindings.every(
        (each) => each.source !== source || each.routingKey !== routingKey || each.destination === destination,
      ));
  return found.bindings.filter((each) => isLeft(each) && !wanted.has(bindingKey(each)));
}

/**
 * The undeclared bindings that differ from a declared one by their routing keys alone, where the exchange ignores these.
 * A queue gets a message once, by however many of them.
 */
export function sameWays(found: BrokerTopology, { topology }: RabbitmqCompiled): readonly BrokerBinding[] {
  const keyless = new Set(
    topology.exchanges
      .filter(({ kind, pluginType }) => (kind === "fanout" && pluginType === undefined) || kind === "headers")
      .map(({ name }) => name),
  );
  const ways = topology.bindings.filter(({ source }) => keyless.has(source));
  const [wanted, alike] = [new Set(ways.map(bindingKey)), new Set(ways.map(keyWithout))];
  return found.bindings.filter(
    (each) => keyless.has(each.source) && alike.has(keyWithout(each)) && !wanted.has(bindingKey(each)),
  );
}

/**
 * Equal for two bindings that differ by their routing keys alone. A headers binding without `x-match` wants all headers.
 * Source: `rabbit_exchange_type_headers:parse_x_match/2`.
 */
export function keyWithout(binding: FoundBinding): string {
  const given = { "x-match": "all", ...binding.arguments };
  return bindingKey({ ...binding, routingKey: "", arguments: given });
}

function numberAfter(prefix: string, text: string): number | null {
  const rest = text.startsWith(prefix) ? text.slice(prefix.length) : "";
  return /^\d+$/.test(rest) ? Number(rest) : null;
}
