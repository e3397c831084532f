import { type Target, brokerOf } from "../brokers/index.ts";
import type { ChangeRequest, Claim } from "../brokers/migrating.ts";
import type { Drift } from "../brokers/drift.ts";
import { type Checked, accepted } from "../diagnostics/diagnostic.ts";
import { type Deployed, needsUpgrade, partKey } from "./deployed.ts";
import { driftFrom, judgeDrift } from "./judge-drift.ts";

/** A broker in the middle of a step. */
export interface StepSeen {
  /** The differences that the step does not explain. */
  readonly strange: Drift<unknown>;
  /** The broker, if it is older than the target of the step. Null if it is not. */
  readonly tooOld: string | null;
  /** The changes that are left to make. */
  readonly left: readonly Pick<ChangeRequest, "text">[];
  /** The same as requests. Null if only a deployment can make them. */
  readonly requests: readonly ChangeRequest[] | null;
  /** Null if only a deployment can change the broker. */
  readonly claimOf: (holder: number) => Claim | null;
  /** Texts in `strange.unread` about queues that the requests mend. */
  readonly mended: readonly string[];
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
    (each) =>
      known.has(keyOf(each)) || (migrating.keepsSettings && each.change === "different" && fresh.has(partKey(each))),
  );
  const strange = { ...now.value, differences, together: () => [], keptLetters: [] };
  const { late = [] } = now.value;
  const lateQueues = late.map(({ queue }) => queue);
  const requests = migrating.requestsFor?.(deployment as never, before.compiled, to.compiled, lateQueues) ?? null;
  const mended = late.filter(({ queue }) => requests?.some(({ mends }) => mends === queue)).map(({ text }) => text);
  const left = requests ?? changesIn(now.value, differences, migrating.givesUp);
  const claimOf = (holder: number): Claim | null =>
    migrating.claimOf?.(deployment as never, to.compiled, holder) ?? null;
  return accepted({ strange, tooOld: tooOldIn(deployment, to.target), left, requests, claimOf, mended });
}

/** A migration may begin before the broker is upgraded. A broker that names no version is not compared. */
function tooOldIn(deployment: unknown, target: Target): string | null {
  const { auditor, formatTarget } = brokerOf(target);
  const own = auditor?.targetOf(deployment as never);
  return own?.ok === true && own.value !== null && needsUpgrade(own.value, target) ? formatTarget(own.value) : null;
}

/** True if nothing of the first step of a migration is done, so that another migration may take its place. */
export function isUntouched(from: Deployed, to: Deployed, { left }: StepSeen): boolean {
  const fresh = seeStep(brokerOf(from.target).differ.deploymentOf(from.compiled), from, to);
  return fresh.ok && left.length === fresh.value.left.length;
}

/** The changes that only a deployment makes. A setting that changes no message's course is none of them. */
function changesIn(
  drift: Drift<unknown>,
  strange: Drift<unknown>["differences"],
  extra = "delete",
): readonly Pick<ChangeRequest, "text">[] {
  const differences = drift.differences.filter((each) => !strange.includes(each));
  return judgeDrift({ ...drift, differences, together: () => [] })
    .filter(({ change, effect }) => change !== "different" || effect !== "harmless")
    .map(({ change, kind, name }) => ({ text: `${{ ...verbs, extra }[change]} the ${kind} ${name}` }));
}

const verbs = { missing: "create", different: "change" } as const;
