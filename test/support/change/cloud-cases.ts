import { checkSystem, type System, type SystemInput } from "../../../src/index.ts";
import type { RegisteredResource } from "../pulumi.ts";
import { cloudInventory } from "./cloud-inventory.ts";
import { runUpdate } from "./engine-model.ts";
import { provider } from "./providers.ts";

/** A change to a system of two consumers; it tells if protection blocks it. */
export interface CloudCase {
  readonly name: string;
  readonly to: System | null;
  readonly unprotect: boolean;
}

const consumer = {
  from: { orders: ["order.placed"] },
  retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "1s",
} as const;

const systemOf = (name: string, consumers: object): System => {
  const system = checkSystem({ name, sources: { orders: { kind: "topic" } }, consumers } as unknown as SystemInput);
  if (!system.ok) throw new Error("it is refused");
  return system.value;
};

/** The first deployment. */
export const before: System = systemOf("change", { billing: consumer, mail: consumer });

/** All changes that leave the queue of billing without a program. */
export const cloudCases: readonly CloudCase[] = [
  { name: "a consumer removed", to: systemOf("change", { mail: consumer }) },
  { name: "a consumer renamed", to: systemOf("change", { invoices: consumer, mail: consumer }) },
  { name: "the system renamed", to: systemOf("changed", { billing: consumer, mail: consumer }) },
  { name: "destroy", to: null },
].flatMap(({ name, to }) => [
  { name: `${name}, unprotected`, to, unprotect: true },
  { name: `${name}, without a preview`, to, unprotect: false },
]);

/**
 * Deploys one program over the other on the model of Pulumi's engine.
 *
 * @returns the deleted resources; all others still exist
 */
export async function removedBy(
  old: readonly RegisteredResource[],
  now: readonly RegisteredResource[],
  unprotect: boolean,
): Promise<{ readonly removed: readonly RegisteredResource[]; readonly error: string | null }> {
  const backend = cloudInventory();
  const pick = (count: number): number => Math.floor(Math.random() * count);
  const usual = { provider, backend, refusal: null, skipPreview: true, pick };
  const { state } = await runUpdate([], old, usual);
  const { error } = await runUpdate(
    unprotect ? state.map((entry) => ({ ...entry, protect: false })) : state,
    now,
    usual,
  );
  return { removed: backend.removed, error };
}
