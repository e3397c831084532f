import { hash } from "node:crypto";

import { publicationsOf } from "./publications.ts";
import type { Contract } from "./contract.ts";
import { exactPattern } from "./names.ts";
import type { Topology } from "./topology.ts";

/**
 * The rights that a user needs in one virtual host: a tag, and three patterns in the order of `rabbitmqctl
 * set_permissions`.
 */
export interface Permissions {
  /** For the management API; null if the user never calls it. */
  readonly tag: "management" | "policymaker" | null;
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

const nothing = "^$";

/** To see a virtual host, a user needs a permission in it, even one that allows nothing. */
export const toAudit: Permissions = Object.freeze({
  tag: "management",
  configure: nothing,
  write: nothing,
  read: nothing,
});

/**
 * Lets a user create, bind and read everything under the system's name, and resources with names of their own. An
 * exchange that somebody else made is only read, by the binding. To declare a queue with a dead-letter exchange, a user
 * needs the permissions to read from the queue and write to the exchange. To set policies, a user needs the tag
 * policymaker or administrator. Source: `rabbit_channel:check_dlx_permission`,
 * `rabbit_mgmt_util:is_authorized_policies/2`.
 */
export function toDeploy({
  system,
  exchanges = [],
  queues = [],
}: Pick<Topology, "system"> & Partial<Topology>): Permissions {
  const resources: readonly { readonly name: string; readonly owner?: "other" }[] = [...exchanges, ...queues];
  const named = resources.filter(({ name }) => !name.startsWith(`${system}.`));
  const patternOf = (all: typeof named): string => {
    const names = new Set(all.map(({ name }) => exactPattern(name)));
    return [exactPattern(`${system}.`).slice(0, -1), ...names].join("|");
  };
  const own = patternOf(named.filter(({ owner }) => owner !== "other"));
  return { tag: "policymaker", configure: own, write: own, read: patternOf(named) };
}

/**
 * Lets a consumer read from the work queue and write to the exchanges that the contract publishes to. With
 * every-instance it may also declare its queue.
 */
export function toConsume(contract: Contract): Permissions {
  const { workQueue, instanceQueue } = contract;
  const copies = [...new Set(publicationsOf(contract).map(({ exchange }) => exchange))].toSorted().map(inPermissions);
  if (instanceQueue === undefined)
    return { tag: null, configure: nothing, write: oneOf(copies), read: oneOf(workQueue === null ? [] : [workQueue]) };
  // The broker chooses the name.
  const own = String.raw`^amq\.gen-`;
  const sources = new Set(instanceQueue.bindings.map(({ exchange }) => exchange));
  return { tag: null, configure: own, write: own, read: `${own}|${oneOf([...sources])}` };
}

/** The queue that keeps a second redrive away from a dead queue. The longest name has 255 bytes. */
export function lockNameOf(deadQueue: string): string {
  const name = `${deadQueue}.redrive`;
  return Buffer.byteLength(name) <= 255 ? name : `redrive.${hash("sha256", deadQueue)}`;
}

/**
 * Lets an operator look at dead letters and send them again. The operator reads from the dead queue and the queue for
 * parked letters, and publishes to the default exchange, which leads to one queue alone. The lock of a redrive is a
 * queue, one for each of the two. The management API shows if a look is safe. A user who may read from a queue may also purge it.
 */
export function toOperate({ deadQueue, parkedQueue }: Pick<Contract, "deadQueue" | "parkedQueue">): Permissions {
  const queues = [deadQueue, parkedQueue].filter((each) => typeof each === "string");
  return {
    tag: "management",
    configure: oneOf(queues.map(lockNameOf)),
    write: oneOf([inPermissions("")]),
    read: oneOf(queues),
  };
}

/**
 * Lets a producer publish the messages that a consumer takes. To send straight to the work queue is to publish to the
 * default exchange, which leads to every queue in the virtual host.
 */
export function toPublish({ sources }: Pick<Contract, "sources">): Permissions {
  const exchanges = [...new Set(sources.map(({ exchange }) => inPermissions(exchange)))];
  return { tag: null, configure: nothing, write: oneOf(exchanges), read: nothing };
}

/** Permissions call the default exchange by a name of its own. Source: rabbitmq.com/docs/access-control. */
export function inPermissions(exchange: string): string {
  return exchange === "" ? "amq.default" : exchange;
}

function oneOf(names: readonly string[]): string {
  return names.length === 0 ? nothing : names.map(exactPattern).join("|");
}
