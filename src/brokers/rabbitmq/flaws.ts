import type { Closure, TopologyIndex } from "./closure.ts";
import type { Contract } from "./contract.ts";
import type { Semantics, SemanticsVersion } from "./semantics.ts";
import { brokerTopologyOf, indexPolicies, policiesFor, versionRules } from "./semantics.ts";
import type { QueueResource } from "./topology.ts";

/**
 * What is wrong with a consumer's part of a topology before any message moves: what no example of a message could show.
 *
 * An example stands for all messages that a binding takes only if the sources route what was declared and nothing else. And what the broker
 * would refuse to declare, leave undefined, or leave out, has no behaviour to look at.
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
    ...ours.flatMap((queue) => settingFlaws(semantics, queue)),
    ...tieFlaws(closure, ours, version),
  ];
}

function sourceFlaws(index: TopologyIndex, contract: Contract): string[] {
  return contract.sources.flatMap(({ exchange, routingKeys }) => {
    const kind = index.exchanges.get(exchange)?.kind;
    const onward = index.besideWork(exchange).filter(({ destinationKind }) => destinationKind === "exchange");
    return [
      // A headers exchange does not look at keys at all, and a fanout exchange sends everything.
      ...(kind === "headers" ? [`the source ${exchange} does not route by key`] : []),
      ...(kind === "fanout" && routingKeys.some((key) => key !== "#")
        ? [`the source ${exchange} sends every message, though only ${routingKeys.join(", ")} is declared`]
        : []),
      ...onward.map(({ destination }) => `the source ${exchange} leads to the exchange ${destination} as well`),
    ];
  });
}

/** From a source only what is declared comes in, and only into the work queue. */
function entranceFlaws(index: TopologyIndex, contract: Contract, { name }: QueueResource): string[] {
  return (index.byDestination.get(name) ?? [])
    .filter(({ source }) => index.exchanges.get(source)?.role === "source")
    .filter(({ source, routingKey }) => {
      const declared = contract.sources.find(({ exchange }) => exchange === source);
      return name !== contract.workQueue || declared?.routingKeys.includes(routingKey) !== true;
    })
    .map(
      ({ source, routingKey }) => `${name} gets ${JSON.stringify(routingKey)} from ${source}, which is not declared`,
    );
}

/** Every argument that a queue of ours has. One that is not among them is refused by the broker, or does what nobody looked at. */
const knownArguments: ReadonlySet<string> = new Set([
  "x-queue-type",
  "x-overflow",
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-dead-letter-strategy",
  "x-delivery-limit",
]);

function settingFlaws(semantics: Semantics, { name, arguments: given }: QueueResource): string[] {
  const settings = semantics.settings(name);
  if (settings === null) return [`there is no queue ${name}`];
  const { kind, maxLength, maxLengthBytes, ignored } = settings;
  return [
    ...(kind === "quorum" ? [] : [`${name} is no quorum queue`]),
    ...Object.keys(given)
      .filter((key) => !knownArguments.has(key))
      .map((key) => `${name} has the argument ${key}, which is not accounted for`),
    // Two full queues that dead-letter to each other would wait for each other.
    ...(maxLength === null && maxLengthBytes === null ? [] : [`${name} has a limit on its length: it can be full`]),
    ...ignored
      .filter(({ why }) => why !== "overridden")
      .map(({ key, from, why }) => `${key} of ${name}, from its ${from}, is refused or without effect (${why})`),
  ];
}

/** Of policies with the same priority the broker promises nothing. */
function tieFlaws(closure: Closure, queues: readonly QueueResource[], version: SemanticsVersion): string[] {
  const policies = indexPolicies(brokerTopologyOf(closure).policies);
  return queues.flatMap(({ name }) => {
    const { applicable } = policiesFor({ name, kind: "quorum" }, policies, versionRules[version]);
    const highest = Math.max(...applicable.map(({ priority }) => priority));
    const tied = applicable.filter(({ priority }) => priority === highest);
    return tied.length > 1 ? [`${tied.length} policies with the same priority apply to ${name}`] : [];
  });
}
