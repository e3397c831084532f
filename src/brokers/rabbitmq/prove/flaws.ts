import { isDeepStrictEqual } from "node:util";

import { tiesOf } from "./policy-orders.ts";
import type { Closure, TopologyIndex } from "./closure.ts";
import type { Contract } from "../compile/contract.ts";
import type { EffectiveSettings, Semantics, SemanticsVersion } from "./semantics.ts";
import {
  brokerTopologyOf,
  indexPolicies,
  isBounded,
  policiesFor,
  policiesForExchange,
  versionRules,
} from "./semantics.ts";
import { publicationsOf } from "../compile/publications.ts";
import { topicIndex } from "./topic-index.ts";
import type { QueueResource } from "../compile/topology.ts";

/**
 * Finds the flaws in a consumer's part of a topology that show before any message moves. No example message could show
 * them.
 *
 * One example stands for all messages of a binding only if the sources route exactly the declared keys. And the
 * explorer sees no behaviour of a setting that the broker refuses, ignores or leaves undefined.
 */
export function flawsOf(
  index: TopologyIndex,
  closure: Closure,
  contract: Contract,
  semantics: Semantics,
  version: SemanticsVersion,
): readonly string[] {
  const isOurs = ({ consumer }: QueueResource): boolean => consumer === null || consumer === contract.consumer;
  const ours = closure.queues.filter(isOurs);
  return [
    ...sourceFlaws(index, contract),
    ...ours.flatMap((queue) => entranceFlaws(index, contract, queue)),
    ...ours.flatMap((queue) => [...settingFlaws(semantics, queue, contract), ...policyFlaws(closure, queue)]),
    ...publicationFlaws(contract, semantics),
    ...tieFlaws(closure, ours, version),
  ];
}

/**
 * Finds only the flaws that no exploration shows. The effects of all other flaws can be explored, and a comparison of
 * two topologies does that.
 */
export const unseenFlawsOf: typeof flawsOf = (index, closure, contract, semantics) => {
  const ours = closure.queues.filter(({ consumer }) => consumer === null || consumer === contract.consumer);
  return [
    ...sourceFlaws(index, contract),
    ...ours.flatMap((queue) => entranceFlaws(index, contract, queue)),
    ...ours.flatMap((queue) => [
      ...kindFlaws(semantics, queue),
      ...argumentFlaws(queue, understood),
      ...policyFlaws(closure, queue),
    ]),
  ];
};

function sourceFlaws(index: TopologyIndex, contract: Contract): string[] {
  return contract.sources.flatMap(({ exchange, routingKeys, arguments: headers }) => {
    const { kind, pluginType } = index.exchanges.get(exchange) ?? {};
    const onward = index.besideWork(exchange).filter(({ destinationKind }) => destinationKind === "exchange");
    return [
      // A headers exchange ignores keys, and a fanout exchange sends everything.
      ...((kind === "headers") === (headers !== undefined)
        ? []
        : [`the source ${exchange} does not route by ${headers === undefined ? "key" : "headers"}`]),
      ...(kind === "fanout" && pluginType === undefined && routingKeys.some((key) => key !== "#")
        ? [`the source ${exchange} sends every message, though only ${routingKeys.join(", ")} is declared`]
        : []),
      ...onward.map(({ destination }) => `the source ${exchange} leads to the exchange ${destination} as well`),
    ];
  });
}

/** Messages from a source must match a declared key and may enter only the work queue. */
function entranceFlaws(index: TopologyIndex, contract: Contract, { name }: QueueResource): string[] {
  return (index.byDestination.get(name) ?? [])
    .filter(({ source }) => index.exchanges.get(source)?.role === "source")
    .filter(({ source, routingKey, arguments: given }) => {
      const covers = index.exchanges.get(source)?.kind === "topic" ? containsKey : includesKey;
      if (name !== contract.workQueue) return true;
      // Another match lets other messages in, or fewer.
      return !contract.sources.some(
        ({ exchange, routingKeys, arguments: declared }) =>
          exchange === source &&
          (declared === undefined || isDeepStrictEqual({ ...given }, { ...declared })) &&
          covers(routingKeys, routingKey),
      );
    })
    .map(
      ({ source, routingKey }) => `${name} gets ${JSON.stringify(routingKey)} from ${source}, which is not declared`,
    );
}

/** A pattern within a declared one lets no other message in. */
function containsKey(patterns: readonly string[], key: string): boolean {
  return topicIndex(patterns.map((pattern) => ({ pattern, item: pattern }))).containing(key).length > 0;
}

function includesKey(keys: readonly string[], key: string): boolean {
  return keys.includes(key);
}

/**
 * Every argument that our queues have. The broker refuses any other argument, or the proof does not know its effect.
 */
const knownArguments: ReadonlySet<string> = new Set([
  "x-queue-type",
  "x-overflow",
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-dead-letter-strategy",
  "x-delivery-limit",
  "x-max-length",
  "x-max-length-bytes",
  // The explorer always lets a message be taken back from its handler at any time.
  "x-consumer-timeout",
  // One instance or many: the explorer looks at one message, which one of them has.
  "x-single-active-consumer",
]);

/** Every key of a policy with an effect on a message that the semantics knows. */
const knownKeys: ReadonlySet<string> = new Set([
  ...[...knownArguments].map((name) => name.slice("x-".length)),
  ..."message-ttl expires alternate-exchange".split(" "),
  ..."delayed-retry-type delayed-retry-min delayed-retry-max".split(" "),
]);

/** Settings that choose where and how the broker stores a queue. A message meets none of them. */
const storage: ReadonlySet<string> = new Set(
  "queue-leader-locator queue-master-locator quorum-initial-group-size target-group-size queue-mode queue-version".split(
    " ",
  ),
);

const understood: ReadonlySet<string> = new Set([...knownKeys].map((key) => `x-${key}`));

function argumentFlaws({ name, arguments: given }: QueueResource, known: ReadonlySet<string>): string[] {
  return Object.keys(given)
    .filter((key) => !known.has(key) && !storage.has(key.replace(/^x-/, "")))
    .map((key) => `${name} has the argument ${key}, which is not accounted for`);
}

function policyFlaws({ policiesOf }: Closure, { name }: QueueResource): string[] {
  return policiesOf(name)
    .flatMap(({ definition }) => Object.keys(definition))
    .filter((key) => !knownKeys.has(key) && !storage.has(key))
    .map((key) => `${name} has a policy with ${key}, which is not accounted for`);
}

function kindFlaws(semantics: Semantics, { name }: QueueResource): string[] {
  return semantics.settings(name)?.kind === "quorum" ? [] : [`${name} is no quorum queue`];
}

function settingFlaws(semantics: Semantics, queue: QueueResource, contract: Contract): string[] {
  const { name } = queue;
  const settings = semantics.settings(name);
  if (settings === null) return [`there is no queue ${name}`];
  const { ignored } = settings;
  const mayBeFull = name === contract.workQueue && contract.refusesWhenFull === true;
  return [
    ...kindFlaws(semantics, queue),
    ...argumentFlaws(queue, knownArguments),
    // Two full queues that dead-letter to each other would wait for each other.
    ...(!isBounded(settings) || mayBeFull ? [] : [`${name} has a limit on its length: it can be full`]),
    ...ignored
      .filter(({ why }) => why !== "overridden")
      .map(({ key, from, why }) => `${key} of ${name}, from its ${from}, is refused or without effect (${why})`),
  ];
}

/** A copy without a route comes back to the consumer, which may never acknowledge the message then. */
function publicationFlaws(contract: Contract, semantics: Semantics): string[] {
  return publicationsOf(contract).flatMap(({ exchange, routingKey }) =>
    semantics
      .publish({ exchange, routingKey })
      .flat()
      .some(({ place }) => place.kind === "queue")
      ? []
      : [`a copy to the exchange ${exchange} with the key ${routingKey} has no route`],
  );
}

/** The broker does not promise an order for policies of the same priority. */
function tieFlaws(closure: Closure, queues: readonly QueueResource[], version: SemanticsVersion): string[] {
  const policies = indexPolicies(brokerTopologyOf(closure).policies);
  const tiesAt = (name: string, applicable: Parameters<typeof tiesOf>[0]): string[] =>
    tiesOf(applicable).map((tied) => `${tied.length} policies with the same priority apply to ${name}`);
  return [
    ...queues.flatMap(({ name }) =>
      tiesAt(name, policiesFor({ name, kind: "quorum" }, policies, versionRules[version]).applicable),
    ),
    ...closure.exchanges.flatMap(({ name }) => tiesAt(name, policiesForExchange(policies, name))),
  ];
}

/**
 * The reason that a queue loses messages that end in it; null if it keeps them. It must keep them also after many people
 * have looked at them.
 */
export function flawOf(settings: EffectiveSettings | null): string | null {
  if (settings === null) return "there is no dead queue";
  const { queue, messageTtlMs, expiresMs, deliveryLimit, deadLetterExchange } = settings;
  const { maxLength, maxLengthBytes, overflow } = settings;
  if (messageTtlMs !== null) return `${queue} deletes it after ${messageTtlMs} ms`;
  if (expiresMs !== null) return `${queue} is itself deleted after ${expiresMs} ms`;
  if (deliveryLimit !== null)
    return `${queue} deletes messages that are viewed and put back ${deliveryLimit + 1} times`;
  if (deadLetterExchange !== null) return `${queue} dead-letters on to ${deadLetterExchange}`;
  if (maxLength === null && maxLengthBytes === null) return null;
  return overflow === "drop-head"
    ? `${queue} drops its head when it is full`
    : `${queue} takes no more when it is full, and it stays unseen where it died`;
}
