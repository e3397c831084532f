import { compareChange } from "../../../src/migrate/compare-change.ts";
import { readDeployed } from "../../../src/migrate/deployed.ts";
import { type HeldQueues, heldAfter } from "../../../src/migrate/held-queues.ts";
import { takenAfter, type TakenSources } from "../../../src/migrate/taken-sources.ts";
import type { RegisteredResource } from "../pulumi.ts";
import type { StateEntry } from "./engine-model.ts";

const isComponent = ({ type }: RegisteredResource): boolean => type.startsWith("redeliver:");

/** The outputs of components in the state, by URN. */
export type Taken = Map<string, { readonly taken: TakenSources; readonly held: HeldQueues }>;

/**
 * The verdict of a component's hook on a program. The state has the declaration of the last update, even if that was
 * cut off.
 *
 * @returns null if the hook allows the update
 */
export function refusalOf(state: readonly StateEntry[], program: readonly RegisteredResource[], taken: Taken) {
  const now = program.find(isComponent);
  const old = state.find(({ urn, isReplaced }) => urn === now?.urn && !isReplaced);
  if (now === undefined || old === undefined) return null;
  const to = readDeployed(now.inputs["declaration"], now.inputs["target"]);
  if (to === null) throw new Error("the program does not compile");
  const compared = compareChange({ inputs: old.inputs, outputs: taken.get(now.urn) ?? {} }, to);
  if (compared === null) throw new Error("the state cannot be read");
  return compared.problems.length === 0 ? null : compared.problems.map(({ message }) => message).join("\n");
}

/** Keeps the outputs of the components. */
export function noteTaken(state: readonly StateEntry[], taken: Taken): void {
  for (const { urn, inputs } of state.filter(isComponent)) {
    const declared = readDeployed(inputs["declaration"], inputs["target"]);
    if (declared === null) continue;
    const before = taken.get(urn) ?? { taken: {}, held: {} };
    taken.set(urn, { taken: takenAfter(before.taken, declared), held: heldAfter(before.held, declared) });
  }
}
