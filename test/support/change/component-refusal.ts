import { readDeployed } from "../../../src/migrate/deployed.ts";
import { refuseChange } from "../../../src/migrate/refuse-change.ts";
import type { TakenSources } from "../../../src/migrate/taken-sources.ts";
import { takenAfter } from "../../../src/migrate/taken-sources.ts";
import type { RegisteredResource } from "../pulumi.ts";
import type { StateEntry } from "./engine-model.ts";

const isComponent = ({ type }: RegisteredResource): boolean => type.startsWith("redeliver:");

/** What the outputs of components say in the state, by URN. */
export type Taken = Map<string, TakenSources>;

/**
 * What the hook of a component says, by what the state has of it: the declaration of the last update, also of one that was cut off.
 *
 * @returns null where it has nothing against the update
 */
export function refusalOf(
  state: readonly StateEntry[],
  program: readonly RegisteredResource[],
  taken: Taken,
): string | null {
  const now = program.find(isComponent);
  const old = state.find(({ urn, isReplaced }) => urn === now?.urn && !isReplaced);
  if (now === undefined || old === undefined) return null;
  const [from, to] = [old, now].map(({ inputs }) => readDeployed(inputs["declaration"], inputs["target"]));
  if (from === null || to === null || from === undefined || to === undefined)
    throw new Error("a side does not compile");
  const problems = refuseChange(from, to, takenAfter(taken.get(now.urn) ?? {}, from.system));
  return problems.length === 0 ? null : problems.map(({ message }) => message).join("\n");
}

/** Keeps what the components write into their outputs. */
export function noteTaken(state: readonly StateEntry[], taken: Taken): void {
  for (const { urn, inputs } of state.filter(isComponent)) {
    const declared = readDeployed(inputs["declaration"], inputs["target"]);
    if (declared !== null) taken.set(urn, takenAfter(taken.get(urn) ?? {}, declared.system));
  }
}
