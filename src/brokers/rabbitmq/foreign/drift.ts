import { isDeepStrictEqual } from "node:util";

import { type Checked, accepted, refusedFor, type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Beside, type DeployedDifference, type Drift, loss, otherwise } from "../../drift.ts";
import { type RabbitmqTarget, formatTarget } from "../compile/capabilities.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { Difference, FoundBinding, FoundResources } from "../compile/differences.ts";
import { nameOf } from "../compile/after-deployment.ts";
import { bindingKey, bindingText, deletedBy, differencesIn, namesIn } from "../compile/differences.ts";
import { type Topology, asInForce } from "../compile/topology.ts";
import { flawOf, unseenFlawsOf } from "../prove/flaws.ts";
import { subjectsOf } from "../prove/model.ts";
import { topicIndex } from "../prove/topic-index.ts";
import { policyOrders } from "../prove/policy-orders.ts";
import {
  type BrokerPolicy,
  type BrokerQueue,
  type BrokerTopology,
  type MessageState,
  type PolicyIndex,
  type SemanticsVersion,
  brokerTopologyOf,
  definitionInForce,
  exchangePolicyInForce,
  indexPolicies,
  isPatternReadable,
  policiesFor,
  semanticsOf,
  semanticsVersionOf,
  versionRules,
} from "../prove/semantics.ts";
import { concerned } from "./concerned.ts";
import { deadLettersInto } from "./dead-letters-into.ts";
import { belonging, changedBy, withUndeclared } from "./changed-topology.ts";
import { keyWithout, leftWays, sameWays } from "./left-ways.ts";
import { refusalOf } from "./refused-publishes.ts";
import { repairOf } from "./repair.ts";
import { withUnroutedExamples } from "./unrouted-examples.ts";
import { type Deployment, type VirtualHost, targetOf } from "./deployment.ts";

const unreadHelp =
  "look again when nobody changes the broker, and write policies with plain patterns. Delete a new queue that the broker never reports on, and deploy again";

/**
 * Compares a compiled system with the one virtual host of a deployment.
 *
 * A difference comes with the model of the system that has it and is otherwise as declared. Resources that earlier
 * declarations left are none. Policies are compared by their effect on each queue and exchange. If several of one
 * priority match, the broker may take any, and each counts.
 *
 * @returns a refusal if the deployment has several virtual hosts
 */
export function driftOf(
  deployment: Deployment,
  given: RabbitmqCompiled,
  target: RabbitmqTarget,
): Checked<Drift<MessageState>> {
  const [virtualHost, ...more] = deployment.virtualHosts;
  if (virtualHost === undefined || more.length > 0)
    return refusedFor("RD315", {
      path: "",
      message: `a system lies in one virtual host, and the source has ${deployment.virtualHosts.length}`,
      value: deployment.virtualHosts.map(({ name }) => name),
      help: "name it behind the host of the URL, such as http://localhost:15672/%2F, or export that virtual host alone",
    });
  const read = targetOf(deployment);
  const [own, warnings] = read.ok ? [read.value, read.warnings] : [null, [unknownVersion(deployment, target)]];
  const topology = asInForce(given.topology);
  const there = { ...target, ...(own === null ? {} : { version: own.version, patch: own.patch }) };
  const version = semanticsVersionOf(there);
  const contracts = withUnroutedExamples(given, virtualHost.topology, version);
  const compiled = { ...given, topology, contracts };
  const { views, ...seen } = viewsOf(virtualHost, topology, version);
  const same = sameWays(virtualHost.topology, compiled);
  const ways = leftWays(virtualHost.topology, compiled);
  const left = new Set([...ways, ...same].map(bindingKey));
  const isLeft = (each: Difference): boolean => each.kind === "binding" && left.has(bindingKey(each.binding));
  const found = views.map((view) => differencesIn(topology, view, true).filter((each) => !isLeft(each)));
  const each = new Map(found.flat().map((difference) => [JSON.stringify(difference), difference]));
  // The arguments of a queue are the same in each order of its policies.
  const ofQueues = new Map(found.flat().flatMap((one) => (one.kind === "queue" ? [[one.name, one] as const] : [])));
  const base = withUndeclared(topology, virtualHost.topology, ways, version);
  const policies = [brokerTopologyOf(given.topology), virtualHost.topology].map((each) => indexPolicies(each.policies));
  const alike = new Set(same.map(keyWithout));
  const changed = (before: Topology, difference: Difference): Topology =>
    difference.kind === "binding" && difference.change === "missing" && alike.has(keyWithout(difference.binding))
      ? before
      : changedBy(before, difference);
  const subjects = (having: Topology, on = target, contracts = compiled.contracts) =>
    subjectsOf({ ...compiled, topology: having, contracts }, on, unseenFlawsOf);
  const concernedBy = concerned(base, compiled);
  const otherVersion = {
    change: "different" as const,
    kind: "version",
    name: formatTarget(there),
    settings: [{ key: "version", declared: formatTarget(target), deployed: formatTarget(there) }],
    beside: null,
    subjects: () => subjects(base, there),
  };
  return accepted(
    {
      differences: [
        ...(version === semanticsVersionOf(target) ? [] : [otherVersion]),
        ...[...each.values()].map((difference) => ({
          ...told(difference, policies, version),
          beside: refusalOf(difference, compiled) ?? besideOf(difference, topology, version),
          ...repairOf(difference, topology),
          subjects: () => {
            const all = [...belonging(difference, ofQueues, [...each.values()]), difference];
            return subjects(all.reduce(changed, base), target, concernedBy(all));
          },
        })),
        ...deadLettersInto(topology, virtualHost.topology, version),
      ],
      declared: () => subjects(base),
      together: () => found.map((all) => subjects(all.reduce(changed, base), there)),
      ...seen,
      keptLetters: keptLettersOf(topology, virtualHost),
    },
    warnings,
  );
}

/** A person names the target, so the comparison need not stop. */
function unknownVersion({ brokerVersion }: Deployment, target: RabbitmqTarget): Diagnostic {
  return diagnostic("RD403", {
    path: "rabbitmq_version",
    value: brokerVersion,
    message: `Redeliver does not know RabbitMQ ${brokerVersion}; the comparison uses the rules of ${target.version}`,
    help: "upgrade the broker before you deploy to it",
  });
}

function keptLettersOf({ queues }: Topology, { reports }: VirtualHost): Drift<MessageState>["keptLetters"] {
  return queues.flatMap(({ name }) => {
    const letters = reports?.get(name)?.keptLetters ?? 0;
    return letters === 0 ? [] : [{ queue: name, letters }];
  });
}

/** Finds the policies in force from the lists of policies. The broker's own report, which lags, has to agree. */
function viewsOf({ topology, reports }: VirtualHost, wanted: Topology, version: SemanticsVersion) {
  const names = namesIn(wanted);
  const queues = topology.queues.filter(({ name }) => names.queue.has(name));
  const exchanges = topology.exchanges.filter(({ name }) => names.exchange.has(name));
  const there = { ...topology, queues, exchanges };
  const views = policyOrders(there, version).map(({ policies }) => viewOf({ ...there, policies }, version));
  const isReported = ({ name }: BrokerQueue, view: FoundResources): boolean =>
    isDeepStrictEqual(view.queues.get(name)?.policy, reports?.get(name)?.policy);
  const agreeing = views.filter((view) => reports !== undefined && queues.every((queue) => isReported(queue, view)));
  const late = queues
    .filter((queue) => reports !== undefined && !views.some((view) => isReported(queue, view)))
    .map(({ name }) => {
      const policy = reports?.get(name)?.policy ?? null;
      const text =
        policy === null
          ? `the broker does not report the policy in force on ${name}`
          : `the broker reports ${JSON.stringify(policy)} in force on ${name}, and its lists of policies make another`;
      return { queue: name, text };
    });
  // The broker reports the policies in force on queues only.
  const isInReports = ({ applyTo }: BrokerPolicy): boolean =>
    agreeing.length > 0 && applyTo !== "all" && applyTo !== "exchanges";
  const unread = [
    ...exchanges
      .filter(({ isGuessed, pluginType }) => isGuessed === true && pluginType === undefined)
      .map(({ name }) => `only bindings name the exchange ${name}, so its kind is unknown`),
    ...topology.policies
      .filter((policy) => !isPatternReadable(policy.pattern) && !isInReports(policy))
      .map(({ name }) => `the pattern of the policy ${name} cannot be read`),
    ...late.map(({ text }) => text),
  ];
  return {
    /** The declared resources, once for each order in which the broker may hold its policies. */
    views: agreeing.length > 0 ? agreeing : views,
    unread,
    unreadHelp,
    late,
  };
}

function viewOf({ queues, exchanges, bindings, policies }: BrokerTopology, version: SemanticsVersion): FoundResources {
  const index = indexPolicies(policies);
  const foundQueues = queues.map((queue) => {
    // From 4.0 on the broker writes the type into the arguments. Before, it may come from the virtual host alone.
    const given = { ...queue.arguments, "x-queue-type": queue.kind, ...lifetimeOf(queue.goesWith) };
    return [queue.name, { arguments: given, policy: definitionInForce(queue, index, versionRules[version]) }] as const;
  });
  const foundExchanges = exchanges.map(({ name, kind, pluginType, arguments: own, goesWith, isInternal = false }) => {
    const given = { ...own, ...lifetimeOf(goesWith) };
    const policy = exchangePolicyInForce(index, name)?.definition ?? {};
    const goesAtRestart = goesWith?.includes("restart") === true;
    return [name, { kind: pluginType ?? kind, arguments: given, policy, goesAtRestart, isInternal }] as const;
  });
  return { queues: new Map(foundQueues), exchanges: new Map(foundExchanges), bindings };
}

const ends = {
  restart: "a restart",
  "last-consumer": "the end of its last consumer",
  "last-binding": "the end of its last binding",
  connection: "the end of its connection",
} as const;

function lifetimeOf(goesWith: readonly (keyof typeof ends)[] = []): Readonly<Record<string, string>> {
  return goesWith.length === 0 ? {} : { [deletedBy]: goesWith.map((end) => ends[end]).join(", ") };
}

const kinds = {
  queue: "queue",
  exchange: "exchange",
  foreign: "exchange",
  "foreign-arguments": "exchange",
  "queue-policy": "policy in force on the queue",
  "exchange-policy": "policy in force on the exchange",
} as const;

/** The setting of a difference with the names of the policies in force. */
const namesKey = "policies";

/** True if the declared policy is not in force. */
export function isNewPolicy({ settings }: Pick<DeployedDifference<unknown>, "settings">): boolean {
  return settings.some(({ key, declared }) => key === namesKey && declared !== undefined);
}

function told(
  difference: Difference,
  policies: readonly PolicyIndex[],
  version: SemanticsVersion,
): Pick<DeployedDifference<MessageState>, "change" | "kind" | "name" | "settings"> {
  const { change, kind, name, settings } = difference;
  if (kind === "binding") return { change, kind, name: `${name} ${bindingText(difference.binding)}`, settings };
  if (kind !== "queue-policy") return { change, kind: kinds[kind], name, settings };
  const [declared, deployed] = policies.map((index) => {
    const { applicable } = policiesFor({ name, kind: "quorum" }, index, versionRules[version]);
    return applicable
      .filter((each) => applicable.every((other) => other.kind !== each.kind || other.priority <= each.priority))
      .map((each) => `${each.kind === "operator" ? "operator's " : ""}${each.name}`)
      .toSorted()
      .join(", ");
  });
  const others = declared === deployed ? [] : [{ key: namesKey, declared, deployed: deployed || undefined }];
  return { change, kind: kinds[kind], name, settings: [...settings, ...others] };
}

/** The effects of a difference beside those on the messages that consumers take from their declared sources. */
function besideOf(difference: Difference, declared: Topology, version: SemanticsVersion): Beside {
  const { change, name, kind, settings } = difference;
  if (settings.some(({ key, deployed }) => key === "x-queue-type" && deployed === "classic"))
    return loss(`a restart deletes messages in ${name} that were not published as persistent`);
  if (settings.some(({ key }) => key.endsWith("consumer-timeout")))
    return otherwise("the broker takes a message back from a slow handler after another time");
  if (settings.some(({ key }) => key === "x-single-active-consumer"))
    return otherwise("its instances receive messages one at a time, or all together");
  if (kind === "foreign" && declared.exchanges.some((each) => each.name === name && each.pluginType !== undefined))
    return otherwise("an exchange of another type chooses among its bindings by other rules");
  if (kind === "foreign-arguments")
    return otherwise("an exchange with other arguments may route messages to other places");
  const lost = lastResortFlaw(difference, declared, version);
  if (lost !== null) return otherwise(`messages that find no way on are no longer kept: ${lost}`);
  if (kind !== "binding") return change === "missing" ? otherwise("no message can pass through it") : null;
  const { destination, routingKey } = difference.binding;
  if (change === "missing" && isMissed(difference.binding, declared))
    return loss(`messages with a key like ${routingKey} have no way from ${name} to ${destination}`);
  const isForeign = declared.exchanges.every((each) => each.name !== name);
  return change === "extra" && isForeign
    ? otherwise(`messages that others publish to ${name} enter ${destination}`)
    : null;
}

/** True if no other declared binding takes all keys of the pattern. The proof takes one example of each pattern. */
function isMissed({ source, destination, routingKey }: FoundBinding, { bindings, exchanges }: Topology): boolean {
  const isTopic = exchanges.some(({ name, kind, role }) => name === source && kind === "topic" && role === "source");
  const others = bindings
    .filter((each) => each.source === source && each.destination === destination && each.routingKey !== routingKey)
    .map((item) => ({ pattern: item.routingKey, item }));
  return isTopic && topicIndex(others).containing(routingKey).length === 0;
}

/** The reason that messages without a way on are lost by a difference. Null if they are kept as before. */
function lastResortFlaw(difference: Difference, declared: Topology, version: SemanticsVersion): string | null {
  const queue = declared.queues.find(({ role }) => role === "undeliverable")?.name;
  const leading = declared.exchanges
    .filter(({ arguments: given }) => given["alternate-exchange"] === queue)
    .map(nameOf);
  if (queue === undefined || ![queue, ...leading].includes(difference.name)) return null;
  const semantics = semanticsOf(brokerTopologyOf(changedBy(declared, difference)), version);
  const copies = leading.flatMap((exchange) => semantics.publish({ exchange, routingKey: "redeliver:nowhere" }).flat());
  const isCaught = copies.every(({ place }) => place.kind === "queue");
  return isCaught ? flawOf(semantics.settings(queue)) : `nothing leads into ${queue}`;
}
