import type { DeployedPart } from "../brokers/deployed-part.ts";
import { isEntry } from "../foreign/entries.ts";
import { type Deployed, isElsewhere, readDeployed, underNewNames } from "./deployed.ts";
import { type HeldQueues, heldAfter, leftQueuesTaken } from "./held-queues.ts";
import { leftBehind } from "./left-behind.ts";
import { proveChange } from "./prove-change.ts";
import { refuseChange } from "./refuse-change.ts";
import { type TakenSources, takenAfter } from "./taken-sources.ts";

/** The part of a component in the state: its inputs, and its registered outputs. */
export interface KeptState {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

export type ComparedChange = NonNullable<ReturnType<typeof compareChange>>;

/**
 * Compares the state with the new deployment.
 *
 * @param isOwn true for a part that the stack may leave behind
 * @returns null if this version cannot read the declaration or the target in the state
 */
export function compareChange({ inputs, outputs }: KeptState, to: Deployed, isOwn?: (part: DeployedPart) => boolean) {
  const old = readDeployed(inputs["declaration"], inputs["target"]);
  if (old === null) return null;
  const from = underNewNames(old, to.system);
  // Another broker or region has none of the old bindings.
  const kept = isElsewhere(from, to) ? null : outputs;
  const before = kept === null ? {} : takenAfter(entriesIn<TakenSources>(kept["taken"]), from);
  const held = kept === null ? {} : heldAfter(entriesIn<HeldQueues>(kept["held"]), from);
  const refused = [...refuseChange(from, to, before), ...leftQueuesTaken(from, to, held)];
  const proved = refused.length > 0 ? null : proveChange(from, to);
  return {
    /** The reasons to refuse it; empty if it is allowed. */
    problems: proved?.problems ?? refused,
    /** The promises that do not hold for messages that wait during the change. */
    warnings: proved?.warnings ?? [],
    left: leftBehind(from, to, isOwn),
    /** The sources that consumers took from up to now. The next change is compared with them. */
    taken: takenAfter(before, to),
    /** The queues that consumers have had up to now, for the same purpose. */
    held: heldAfter(held, to),
  };
}

/** A state of an older version lacks the output. */
function entriesIn<Output extends object>(output: unknown): Output {
  return (isEntry(output) ? output : {}) as Output;
}
