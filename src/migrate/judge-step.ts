import { brokerOf } from "../brokers/index.ts";
import type { ChangeRequest } from "../brokers/migrating.ts";
import type { Drift } from "../brokers/drift.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";
import { type Deployed, partKey } from "./deployed.ts";
import { driftFrom } from "./judge-drift.ts";

/** A broker in the middle of a step. */
export interface StepSeen {
  /** The differences that the step does not explain. */
  readonly strange: Drift<unknown>;
  /** The requests that are left to make. */
  readonly left: readonly ChangeRequest[];
}

/** Compares a broker with a step that is perhaps half done. Each resource has to be as it was before, or as it is after. */
export function seeStep(deployment: unknown, before: Deployed, to: Deployed): Checked<StepSeen> {
  const { migrating } = brokerOf(to.target);
  if (migrating === undefined) throw new Error("this broker has no migrations");
  const after = { ...to, compiled: migrating.deployedAfter(before.compiled, to.compiled) };
  const [old, now] = [driftFrom(deployment, before), driftFrom(deployment, after)];
  if (!old.ok) return old;
  if (!now.ok) return now;
  const keyOf = ({ change, kind, name }: Drift<unknown>["differences"][number]): string => `${change} ${kind} ${name}`;
  const known = new Set(old.value.differences.map(keyOf));
  const fresh = new Set(to.parts.map(partKey));
  // Nobody can give a queue other arguments, so one that exists already stays as it is.
  const differences = now.value.differences.filter(
    (each) => known.has(keyOf(each)) || (each.change === "different" && fresh.has(partKey(each))),
  );
  const strange = { ...now.value, differences, together: () => [], keptLetters: [] };
  return accepted({ strange, left: migrating.requestsFor(deployment as never, before.compiled, to.compiled) });
}

/** True if nothing of the first step of a migration is done, so that another migration may take its place. */
export function isUntouched(from: Deployed, to: Deployed, { left }: StepSeen): boolean {
  const { migrating, differ } = brokerOf(from.target);
  const before = differ.deploymentOf(from.compiled);
  return left.length === migrating?.requestsFor(before as never, from.compiled, to.compiled).length;
}
