import { createHash } from "node:crypto";

import * as pulumi from "@pulumi/pulumi";

import type { System } from "../../../declare/system.ts";
import type { DeployedPart } from "../../deployed-part.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { bindingIdentity } from "../compile/parts.ts";
import type { BindingResource, PolicyResource, QueueResource, Topology } from "../compile/topology.ts";

/**
 * The part of a system that one stack deploys. `shared` is everything that belongs to no single consumer: the exchanges
 * of sources, tiers, a shared dead queue. The parts of all stacks together have each resource of the system once.
 */
export type Part = "shared" | ConsumersPart;

/** The kind of a part, which policies read. */
export const kindOf = (part: Part | undefined): "shared" | "consumers" | undefined =>
  part === undefined || part === "shared" ? part : "consumers";

/** The consumers of one stack. */
export interface ConsumersPart {
  /** Their names in the declaration. */
  readonly consumers: readonly string[];
  /** The output `shared` of the component with the part `shared`, as the last deployment of its stack left it. */
  readonly shared: readonly string[];
}

/** The resources that a part makes, and the names of those that another stack has made. */
export interface PartTopology {
  readonly own: Topology;
  readonly outside: Readonly<Record<"queues" | "exchanges", ReadonlySet<string>>>;
}

/** Divides the topology of a system, or of the consumers of one stack. */
export function partOf(topology: Topology, part: Part | undefined): PartTopology {
  const isIn = (consumer: string | null): boolean =>
    part === undefined || (part === "shared" ? consumer === null : consumer !== null);
  const { ofQueue, ofExchange, ofPolicy, ofBinding } = ownersIn(topology);
  const queues = Map.groupBy(topology.queues, ({ name }) => isIn(ofQueue(name)));
  const exchanges = Map.groupBy(topology.exchanges, ({ name }) => isIn(ofExchange(name)));
  return {
    own: {
      ...topology,
      queues: queues.get(true) ?? [],
      exchanges: exchanges.get(true) ?? [],
      policies: topology.policies.filter((each) => isIn(ofPolicy(each))),
      bindings: topology.bindings.filter((each) => isIn(ofBinding(each))),
    },
    outside: {
      queues: new Set(queues.get(false)?.map(({ name }) => name)),
      exchanges: new Set(exchanges.get(false)?.map(({ name }) => name)),
    },
  };
}

/** The consumer that each resource belongs to, or null for a shared one. */
function ownersIn(topology: Topology) {
  const queues = new Map(topology.queues.map((queue) => [queue.name, queue]));
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const ofQueue = (name: string): string | null => queues.get(name)?.consumer ?? null;
  const ofExchange = (name: string): string | null => exchanges.get(name)?.consumer ?? null;
  return {
    ofQueue,
    ofExchange,
    ofPolicy: ({ name, applyTo }: PolicyResource): string | null =>
      applyTo === "exchanges" ? ofExchange(name) : ofQueue(name),
    ofBinding: (each: BindingResource): string | null =>
      ofExchange(each.source) ??
      (each.destinationKind === "exchange" ? ofExchange(each.destination) : consumerBehind(queues, each)),
  };
}

/** The consumer whose messages take a binding. The key of a way into a shared dead queue is the name of a work queue. */
export function consumerBehind(
  queues: ReadonlyMap<string, QueueResource>,
  { destination, routingKey }: BindingResource,
): string | null {
  return queues.get(destination)?.consumer ?? queues.get(routingKey)?.consumer ?? null;
}

/**
 * Tells which parts of an older system a stack may leave behind: its own ones that no stack declares any more.
 *
 * @param whole the system with the consumers of all stacks
 */
export function isOwnOf(part: Part | undefined, { topology }: RabbitmqCompiled): (each: DeployedPart) => boolean {
  const declared = new Set([...topology.queues, ...topology.exchanges].map(({ name }) => name));
  return ({ name, consumer }) =>
    part === undefined || (part === "shared" ? consumer === null : consumer !== null && !declared.has(name));
}

/** The shared resources of a topology, each with its kind, its name and a hash of its settings. */
export function sharedIn(topology: Topology): readonly string[] {
  const { queues, exchanges, policies, bindings } = partOf(topology, "shared").own;
  const named = [
    ...queues.map((each) => ["queue", each.name, each]),
    ...exchanges.flatMap((each) => (each.owner === "other" ? [] : [["exchange", each.name, each]])),
    ...policies.map((each) => ["policy", each.name, each]),
    ...bindings.map((each) => ["binding", bindingIdentity(each), each]),
  ] as const;
  return named.map(([kind, name, settings]) => {
    const hash = createHash("sha256").update(JSON.stringify(settings)).digest("hex");
    return `${String(kind)} ${String(name)} ${hash.slice(0, 16)}`;
  });
}

/**
 * The part, if it is one of consumers. Not every program is type-checked, and a misspelled part must not deploy another
 * one.
 *
 * @throws pulumi.RunError if it is no part
 */
export function consumersPart(name: string, part: Part | undefined): ConsumersPart | null {
  if (part === undefined || part === "shared") return null;
  const { consumers } = (part ?? {}) as Partial<ConsumersPart>;
  if (Array.isArray(consumers) && consumers.every((each) => typeof each === "string")) return part;
  throw refusedPart(name, 'its part is neither "shared" nor { consumers: ["billing"], shared }');
}

/**
 * The system with the consumers of one stack. Their resources, and those that they share, are the same as in the whole
 * system.
 *
 * @throws pulumi.RunError if a name is not that of a consumer
 */
export function systemOf(name: string, system: System, { consumers }: ConsumersPart): System {
  const unknown = consumers.filter((each) => !Object.hasOwn(system.consumers, each));
  if (unknown.length > 0 || consumers.length === 0)
    throw refusedPart(
      name,
      `${unknown.length === 0 ? "its part names no consumer" : `no consumer named ${unknown.join(", ")} is declared`}; declared are ${Object.keys(system.consumers).join(", ")}`,
    );
  const own = Object.entries(system.consumers).filter(([each]) => consumers.includes(each));
  return { ...system, consumers: Object.fromEntries(own) };
}

/**
 * Messages would be lost or stuck where a shared resource is missing.
 *
 * @throws pulumi.RunError if the stack of the shared part has not deployed all that the consumers of this one need
 */
export function checkShared(name: string, topology: Topology, { shared }: ConsumersPart): void {
  // A stack without the output has nothing in its place, and not every program is type-checked.
  const deployed = new Set(Array.isArray(shared) ? shared : []);
  const missing = sharedIn(topology).filter((each) => !deployed.has(each));
  if (missing.length === 0) return;
  const named = missing.map((each) => each.split(" ").slice(0, -1).join(" "));
  const some = `${named.slice(0, 5).join(", ")}${named.length > 5 ? `, and ${named.length - 5} more` : ""}`;
  throw refusedPart(
    name,
    `the shared part does not have ${some} as this declaration needs it. First deploy the stack with part: "shared" by the same declaration and target, and give its output "shared" to this one`,
  );
}

function refusedPart(name: string, reason: string): pulumi.RunError {
  return new pulumi.RunError(`RetryTopology ${JSON.stringify(name)} is refused: ${reason}`);
}
