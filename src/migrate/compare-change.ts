import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Deployed } from "./deployed.ts";
import { readDeployed } from "./deployed.ts";
import type { LeftBehind } from "./left-behind.ts";
import { leftBehind } from "./left-behind.ts";
import { refuseChange } from "./refuse-change.ts";
import type { TakenSources } from "./taken-sources.ts";
import { readTaken, takenAfter } from "./taken-sources.ts";

/** What a state keeps of a component: its inputs, and what it registered as outputs. */
export interface KeptState {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** What a change comes to. */
export interface ComparedChange {
  /** Why it is refused; empty where it is not. */
  readonly problems: readonly Diagnostic[];
  readonly left: readonly LeftBehind[];
  /** What consumers took from sources up to now, for the next change to be compared with. */
  readonly taken: TakenSources;
}

/**
 * Compares what a state keeps with what is to be deployed.
 *
 * @returns null where this version cannot read the declaration or the target in the state
 */
export function compareChange({ inputs, outputs }: KeptState, to: Deployed): ComparedChange | null {
  const from = readDeployed(inputs["declaration"], inputs["target"]);
  if (from === null) return null;
  const before = takenAfter(readTaken(outputs["taken"]), from.system);
  return {
    problems: refuseChange(from, to, before),
    left: leftBehind(from, to),
    taken: takenAfter(before, to.system),
  };
}
