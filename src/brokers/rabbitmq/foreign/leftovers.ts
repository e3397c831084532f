import type { Leftover } from "../../deployed-part.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { bindingKey, namesIn, policyKey } from "../compile/differences.ts";
import { deadLetteringOf } from "../compile/topology.ts";
import type { Deployment } from "./deployment.ts";
import { type OwnResources, ownResources } from "./own-resources.ts";
import type { BrokerBinding, BrokerTopology } from "../prove/semantics.ts";

/**
 * The system's resources in a virtual host that are not declared any more. They are ways into queues, queues,
 * exchanges, and bindings between declared resources.
 *
 * Each comes after the resources that still need it, so that a user can remove them in this order. Requests are for the
 * management API.
 */
export function leftoversIn(
  deployment: Deployment,
  compiled: RabbitmqCompiled,
  earlier: readonly RabbitmqCompiled[] = [],
  others: readonly RabbitmqCompiled[] = [],
): readonly Leftover[] {
  return deployment.virtualHosts.flatMap(({ name, topology: found }) =>
    leftoversOf(name, found, compiled, ownResources(found, compiled, earlier, others)),
  );
}

function leftoversOf(
  virtualHost: string,
  found: BrokerTopology,
  { topology }: RabbitmqCompiled,
  isOwn: OwnResources,
): Leftover[] {
  const declared = namesIn(topology);
  const declaredBindings = new Set(topology.bindings.map(bindingKey));
  const queues = found.queues.filter(({ name }) => isOwn.queue(name) && !declared.queue.has(name));
  const exchanges = found.exchanges.filter(({ name }) => isOwn.exchange(name) && !declared.exchange.has(name));
  const gone = new Set([...queues, ...exchanges].map(({ name }) => name));
  const bindings = found.bindings.filter(
    (each) =>
      (isOwn.exchange(each.source) || declared.exchange.has(each.source)) &&
      (isOwn[each.destinationKind](each.destination) || declared.queue.has(each.destination)) &&
      !gone.has(each.source) &&
      !gone.has(each.destination) &&
      !declaredBindings.has(bindingKey(each)),
  );
  const common = { place: virtualHost, holds: null, longestWaitMs: null };
  const bindingOf = (each: BrokerBinding): Leftover => {
    const key = each.routingKey === "" ? "" : ` with the key ${each.routingKey}`;
    return {
      ...common,
      kind: "binding",
      name: `${each.source} to ${each.destination}${key}`,
      removal: [unbind(virtualHost, each)],
    };
  };
  const policies = new Set(found.policies.filter(({ kind }) => kind === "user").map(policyKey));
  const policyOf = (owner: string, owns: "queue" | "exchange"): readonly string[] =>
    policies.has(`${owns} ${owner}`) ? [`DELETE ${path("policies", virtualHost, owner)}`] : [];
  const goneQueues = new Set(queues.map(({ name }) => name));
  // A binding by which waiting messages come back, or die, goes with its queue.
  const inner = new Set(topology.exchanges.flatMap(({ name, role }) => (role === "source" ? [] : [name])));
  const waysIn = found.bindings.filter(
    ({ source, destination }) => goneQueues.has(destination) && !inner.has(source) && !gone.has(source),
  );
  return [
    ...waysIn.map((each): Leftover => ({ ...bindingOf(each), holds: "work" })),
    ...stages.flatMap((stage) =>
      queues
        .map(({ name }) => name)
        .filter((name) => stageOf(found, name) === stage)
        .toSorted()
        .map((name): Leftover => ({
          ...common,
          kind: "queue",
          name,
          holds: stage,
          longestWaitMs: waitIn(found, name),
          removal: [`DELETE ${path("queues", virtualHost, name)}`, ...policyOf(name, "queue")],
        })),
    ),
    ...exchanges.map(({ name }): Leftover => ({
      ...common,
      kind: "exchange",
      name,
      removal: [`DELETE ${path("exchanges", virtualHost, name)}`, ...policyOf(name, "exchange")],
    })),
    ...bindings.map(bindingOf),
  ];
}

/** The path of a request to the management API, without the marks that shells know. */
export function path(...words: readonly string[]): string {
  const encoded = words.map((word) =>
    encodeURIComponent(word).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  return `/api/${encoded.join("/")}`;
}

const marks: Readonly<Record<string, string>> = { "%": "%25", "+": "%2B", "~": "%7E" };

/**
 * The API names a binding without arguments by its key, and by ~ if the key is empty. With arguments a hash is part of
 * the name, and an export does not have it. In the name `~` is a separator, and `+` a blank. Source:
 * `rabbit_mgmt_format:pack_binding_props/2`, `rabbit_mgmt_wm_binding:unpack/3`.
 */
export function unbind(
  virtualHost: string,
  { source, destination, destinationKind, routingKey, arguments: given, propertiesKey }: BrokerBinding,
): string {
  const kind = destinationKind === "queue" ? "q" : "e";
  const plain = routingKey === "" ? "~" : routingKey.replaceAll(/[%+~]/g, (mark) => marks[mark] ?? mark);
  const name = Object.keys(given).length === 0 ? plain : (propertiesKey ?? "PROPERTIES_KEY");
  return `DELETE ${path("bindings", virtualHost, "e", source, kind, destination, name)}`;
}

/** The longest wait of a message, by the queue's own policy. Null if that sets none. */
function waitIn(found: BrokerTopology, queue: string): number | null {
  const waitMs = ownPolicyOf(found, queue)?.["message-ttl"];
  return typeof waitMs === "number" ? waitMs : null;
}

function ownPolicyOf({ policies }: BrokerTopology, queue: string) {
  return policies.find(({ kind, name }) => kind === "user" && name === queue)?.definition;
}

/**
 * Waiting messages come back into a work queue, and messages that fail there die into a dead queue. So the queues empty
 * in this order.
 */
const stages = ["waiting", "work", "dead"] as const;

function stageOf(found: BrokerTopology, queue: string): (typeof stages)[number] {
  if (waitIn(found, queue) !== null) return "waiting";
  // A dead queue may have any name. Messages leave it by no dead-letter exchange.
  const { arguments: given = {} } = found.queues.find(({ name }) => name === queue) ?? {};
  return deadLetteringOf(given, ownPolicyOf(found, queue)).exchange === null ? "dead" : "work";
}
