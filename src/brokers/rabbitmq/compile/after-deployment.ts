import { overlay } from "../../../contract/overlay.ts";
import { bindingKey } from "./differences.ts";
import type { Topology } from "./topology.ts";

export type Resources = Pick<Topology, "exchanges" | "queues" | "bindings" | "policies">;

/**
 * The resources on the broker after a system was deployed over an older form of it. A deployment deletes only a binding
 * of a source, and only if the queue behind it stays declared: see `make/bindings.ts`.
 */
export function afterDeployment(before: Topology, after: Topology): Resources {
  const sources = new Set(before.exchanges.filter(({ role }) => role === "source").map(nameOf));
  const declared = new Set(after.queues.map(nameOf));
  const kept = before.bindings.filter(({ source, destination }) => !sources.has(source) || !declared.has(destination));
  return {
    exchanges: overlay(before.exchanges, after.exchanges, nameOf),
    queues: overlay(before.queues, after.queues, nameOf),
    bindings: overlay(kept, after.bindings, bindingKey),
    policies: overlay(before.policies, after.policies, nameOf),
  };
}

export function nameOf({ name }: { readonly name: string }): string {
  return name;
}
