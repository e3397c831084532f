import { isDeepStrictEqual } from "node:util";

import type { Checked, Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { DeployedDifference, Drift } from "../../drift.ts";
import type { RabbitmqTarget } from "../compile/capabilities.ts";
import { formatTarget } from "../compile/capabilities.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { Difference, FoundBinding, FoundResources } from "../compile/differences.ts";
import { afterDeployment } from "../compile/after-deployment.ts";
import { bindingText, differencesIn } from "../compile/differences.ts";
import type { Topology } from "../compile/topology.ts";
import { unseenFlawsOf } from "../prove/flaws.ts";
import { flawOf, subjectsOf } from "../prove/model.ts";
import { topicIndex } from "../prove/topic-index.ts";
import { policyOrders } from "../prove/policy-orders.ts";
import type { BrokerPolicy, BrokerTopology, MessageState, SemanticsVersion } from "../prove/semantics.ts";
import {
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
import { changedBy, deletedBy, withUndeclared } from "./changed-topology.ts";
import { type Deployment, type VirtualHost, targetOf } from "./deployment.ts";

/**
 * Compares a compiled system with the one virtual host of a deployment.
 *
 * A difference comes with the model of the system that has it and is otherwise as declared. Policies are compared by
 * their effect on each queue and exchange. If several of one priority match, the broker may take any, and each counts.
 *
 * @returns a refusal if the deployment has several virtual hosts, or a version without rules
 */
export function driftOf(
  deployment: Deployment,
  compiled: RabbitmqCompiled,
  target: RabbitmqTarget,
): Checked<Drift<MessageState>> {
  const [virtualHost, ...more] = deployment.virtualHosts;
  if (virtualHost === undefined || more.length > 0) return { ok: false, diagnostics: [severalHosts(deployment)] };
  const own = targetOf(deployment);
  if (!own.ok) return own;
  const { topology } = compiled;
  const there = { ...target, ...(own.value === null ? {} : { version: own.value.version, patch: own.value.patch }) };
  const isOtherVersion = semanticsVersionOf(there) !== semanticsVersionOf(target);
  const { views, unread } = viewsOf(virtualHost, topology, there);
  const found = views.map((view) => differencesIn(topology, view, true));
  const base = withUndeclared(topology, virtualHost.topology);
  const subjects = (changed: Topology, on = target) =>
    subjectsOf({ ...compiled, topology: changed }, on, unseenFlawsOf);
  const each = new Map(found.flat().map((difference) => [JSON.stringify(difference), difference]));
  return {
    ok: true,
    warnings: own.warnings,
    value: {
      differences: [
        ...(isOtherVersion
          ? [
              {
                change: "different" as const,
                kind: "version",
                name: formatTarget(there),
                settings: [setting("version", formatTarget(target), formatTarget(there))],
                beside: null,
                subjects: () => subjects(base, there),
              },
            ]
          : []),
        ...[...each.values()].map((difference) => ({
          ...told(difference, topology, virtualHost.topology, semanticsVersionOf(there)),
          subjects: () => subjects(changedBy(base, difference)),
        })),
      ],
      declared: () => subjects(base),
      together: () => found.map((all) => subjects(all.reduce(changedBy, base), there)),
      unread,
      keptLetters: topology.queues.flatMap(({ name }) => {
        const letters = virtualHost.reports?.get(name)?.keptLetters ?? 0;
        return letters === 0 ? [] : [{ queue: name, letters }];
      }),
    },
  };
}

/** A compiled system as the content of a broker, after it was deployed over another one. */
export function deploymentOf({ topology }: RabbitmqCompiled, over?: RabbitmqCompiled): Deployment {
  const [, brokerVersion = null] = topology.target.split("@");
  const resources = over === undefined ? topology : afterDeployment(over.topology, topology);
  return { brokerVersion, virtualHosts: [{ name: topology.system, topology: brokerTopologyOf(resources) }] };
}

interface Views {
  /** The declared resources, once for each order in which the broker may hold its policies. */
  readonly views: readonly FoundResources[];
  readonly unread: readonly string[];
}

/** Finds the policies in force from the lists of policies. The broker's own report, which lags, has to agree. */
function viewsOf({ topology, reports }: VirtualHost, wanted: Topology, target: RabbitmqTarget): Views {
  const version = semanticsVersionOf(target);
  const names = {
    queues: new Set(wanted.queues.map(({ name }) => name)),
    exchanges: new Set(wanted.exchanges.map(({ name }) => name)),
  };
  const there: BrokerTopology = {
    ...topology,
    queues: topology.queues.filter(({ name }) => names.queues.has(name)),
    exchanges: topology.exchanges.filter(({ name }) => names.exchanges.has(name)),
  };
  const hidden = there.exchanges.flatMap(({ name, isGuessed }) =>
    isGuessed === true ? [`only bindings name the exchange ${name}, so its kind is unknown`] : [],
  );
  const views = policyOrders(there, version).map(({ policies }) => viewOf(there, policies, target));
  if (reports === undefined) return { views, unread: [...hidden, ...unreadablePolicies(topology)] };
  const agreeing = views.filter((view) =>
    there.queues.every(({ name }) => isDeepStrictEqual(view.queues.get(name)?.policy, reports.get(name)?.policy)),
  );
  if (agreeing.length > 0) {
    // The broker reports the policies in force on queues only.
    const ofExchanges = topology.policies.filter(({ applyTo }) => applyTo === "all" || applyTo === "exchanges");
    return { views: agreeing, unread: unreadablePolicies({ ...topology, policies: ofExchanges }) };
  }
  const late = there.queues.flatMap(({ name }) => {
    const policy = reports.get(name)?.policy ?? null;
    if (views.some(({ queues }) => isDeepStrictEqual(queues.get(name)?.policy, policy))) return [];
    return policy === null
      ? [`the broker does not report the policy in force on ${name}`]
      : [`the broker reports ${JSON.stringify(policy)} in force on ${name}, and its lists of policies make another`];
  });
  return { views, unread: [...unreadablePolicies(topology), ...late] };
}

function unreadablePolicies({ policies }: BrokerTopology): readonly string[] {
  return policies.flatMap(({ name, pattern }) =>
    isPatternReadable(pattern) ? [] : [`the pattern of the policy ${name} cannot be read`],
  );
}

function viewOf(
  { queues, exchanges, bindings }: BrokerTopology,
  policies: readonly BrokerPolicy[],
  target: RabbitmqTarget,
): FoundResources {
  const index = indexPolicies(policies);
  const rules = versionRules[semanticsVersionOf(target)];
  return {
    queues: new Map(
      queues.map((queue) => [
        queue.name,
        {
          // From 4.0 on the broker writes the type into the arguments. Before, it may come from the virtual host alone.
          arguments: { ...queue.arguments, "x-queue-type": queue.kind, ...lifetimeOf(queue.goesWith) },
          policy: definitionInForce(queue, index, rules),
        },
      ]),
    ),
    exchanges: new Map(
      exchanges.map(({ name, kind, pluginType, arguments: given, goesWith }) => [
        name,
        {
          kind: pluginType ?? kind,
          arguments: { ...given, ...lifetimeOf(goesWith) },
          policy: exchangePolicyInForce(index, name)?.definition ?? {},
        },
      ]),
    ),
    bindings,
  };
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

function setting(
  key: string,
  declared: unknown,
  deployed: unknown,
): { key: string; declared: unknown; deployed: unknown } {
  return { key, declared, deployed };
}

const kinds = {
  queue: "queue",
  exchange: "exchange",
  foreign: "exchange",
  "queue-policy": "policy in force on the queue",
  "exchange-policy": "policy in force on the exchange",
} as const;

function told(
  difference: Difference,
  topology: Topology,
  { policies }: BrokerTopology,
  version: SemanticsVersion,
): Omit<DeployedDifference<MessageState>, "subjects"> {
  const { change, name } = difference;
  const beside = besideOf(difference, topology, version);
  if (difference.kind === "binding")
    return { change, kind: "binding", name: `${name} ${bindingText(difference.binding)}`, settings: [], beside };
  const settings =
    difference.change === "missing"
      ? []
      : difference.settings.map(({ key, compiled, deployed }) => setting(key, compiled, deployed));
  if (difference.kind === "queue-policy") {
    const inForce = policiesFor({ name, kind: "quorum" }, indexPolicies(policies), versionRules[version])
      .applicable.filter((each, _, all) =>
        all.every(({ kind, priority }) => kind !== each.kind || priority <= each.priority),
      )
      .map((each) => `${each.kind === "operator" ? "operator's " : ""}${each.name}`);
    if (inForce.join() !== name)
      settings.push(setting("policies", name, inForce.length === 0 ? undefined : inForce.join(", ")));
  }
  return { change, kind: kinds[difference.kind], name, settings, beside };
}

/** The effects of a difference beside those on the messages that consumers take from their declared sources. */
function besideOf(
  difference: Difference,
  declared: Topology,
  version: SemanticsVersion,
): DeployedDifference<MessageState>["beside"] {
  const { change, name } = difference;
  if (change === "different" && difference.kind === "queue") {
    const type = difference.settings.find(({ key }) => key === "x-queue-type")?.deployed;
    if (type === "classic")
      return { effect: "loss", reason: `a restart deletes messages in ${name} that were not published as persistent` };
  }
  const settings = change === "different" ? difference.settings : [];
  if (settings.some(({ key }) => key.endsWith("consumer-timeout")))
    return { effect: "otherwise", reason: "the broker takes a message back from a slow handler after another time" };
  const lost = lastResortFlaw(difference, declared, version);
  if (lost !== null) return { effect: "otherwise", reason: `messages that find no way on are no longer kept: ${lost}` };
  if (difference.kind !== "binding")
    return change === "missing" ? { effect: "otherwise", reason: "no message can pass through it" } : null;
  const { destination, destinationKind, routingKey } = difference.binding;
  if (change === "missing" && isMissed(difference.binding, declared))
    return {
      effect: "loss",
      reason: `messages with a key like ${routingKey} have no way from ${name} to ${destination}`,
    };
  const isForeign = declared.exchanges.every((each) => each.name !== name);
  return change === "extra" && isForeign && destinationKind === "exchange"
    ? { effect: "otherwise", reason: `messages that others publish to ${name} enter ${destination}` }
    : null;
}

/** True if no other declared binding takes all keys of the pattern. The proof takes one example of each pattern. */
function isMissed({ source, destination, routingKey }: FoundBinding, { bindings, exchanges }: Topology): boolean {
  const patterns = bindings.flatMap((each) =>
    each.source === source && each.destination === destination && each.routingKey !== routingKey
      ? [{ pattern: each.routingKey, item: each }]
      : [],
  );
  const isTopic = exchanges.some(({ name, kind, role }) => name === source && kind === "topic" && role === "source");
  return isTopic && topicIndex(patterns).containing(routingKey).length === 0;
}

/** The reason that messages without a way on are lost by a difference. Null if they are kept as before. */
function lastResortFlaw(difference: Difference, declared: Topology, version: SemanticsVersion): string | null {
  const queue = declared.queues.find(({ role }) => role === "undeliverable")?.name;
  const leading = declared.exchanges.filter(({ arguments: given }) => given["alternate-exchange"] === queue);
  if (queue === undefined || (difference.name !== queue && leading.every(({ name }) => name !== difference.name)))
    return null;
  const semantics = semanticsOf(brokerTopologyOf(changedBy(declared, difference)), version);
  const isCaught = leading.every(({ name }) =>
    semantics
      .publish({ exchange: name, routingKey: "redeliver:nowhere" })
      .flat()
      .every(({ place }) => place.kind === "queue"),
  );
  return isCaught ? flawOf(semantics.settings(queue)) : `nothing leads into ${queue}`;
}

function severalHosts({ virtualHosts }: Deployment): Diagnostic {
  return diagnostic("RD315", {
    path: "",
    message: `a system lies in one virtual host, and the source has ${virtualHosts.length}`,
    value: virtualHosts.map(({ name }) => name),
    help: "name it behind the host of the URL, such as http://localhost:15672/%2F, or export that virtual host alone",
  });
}
