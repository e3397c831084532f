import { docsPage } from "../diagnostics/docs-site.ts";
import { movedDraft } from "../adopt/moved-draft.ts";
import { unsaidOptions, type DraftDeclaration } from "../adopt/declare-found.ts";
import type { FoundSystem, Imports, Unsaid } from "../adopt/found.ts";
import { brokerOf, type Target } from "../brokers/index.ts";
import type { Proved } from "../compile/compile.ts";
import { type Checked, type Diagnostic, accepted, diagnostic, refusedFor } from "../diagnostics/diagnostic.ts";
import { type Made, compiledDraft, proveDraft } from "./compiled-draft.ts";
import { needsUpgrade } from "./deployed.ts";
import { driftFrom, type JudgedDifference, judgeDrift, otherDiagnostics } from "./judge-drift.ts";

/** A topology that Redeliver did not make, as a declaration that keeps its names. */
export interface Adopted {
  readonly draft: DraftDeclaration;
  readonly proved: Proved;
  /** True if nothing proves the declaration with the settings of others that stay in force. */
  readonly isBroken: boolean;
  /** True if the declaration has the new queues of all consumers that move. */
  readonly isMoved: boolean;
  /** All facts that the declaration cannot say. */
  readonly unsaid: readonly Unsaid[];
  /** The queues that were left out, because no declaration of them compiles. */
  readonly refused: readonly Unsaid[];
  /** The differences of policies and bindings. Null if the broker has no comparison yet. */
  readonly judged: readonly JudgedDifference[] | null;
  /** Those of `judged` that go with a policy which the deployment adds. */
  readonly newPolicies: readonly JudgedDifference[];
  /** The number of resources that a deployment adds, with the new queues of all consumers that move. */
  readonly added: number;
  /** The target of the input, if its broker has to be upgraded before the deployment. */
  readonly upgradeFrom: string | null;
  /** The errors that the audit finds today. */
  readonly findings: readonly Diagnostic[];
  readonly imports: Imports;
  /** The differences of resources that no deployment changes, by the `place` of an import that is left out. */
  readonly fixed: ReadonlyMap<string, JudgedDifference>;
  /** The type in Terraform for a type of Pulumi; null for a resource that takes nothing over. */
  readonly terraformType: (token: string) => string | null;
  /** A sentence without its end: the effect of a deployment on the differences. */
  readonly effect: string;
}

export interface AdoptionOptions {
  /** The name of the system, if Redeliver did not make it. */
  readonly name: string;
  /** The work queues to adopt; empty for all. */
  readonly queues: readonly string[];
  /** The queues of other owners in the input. */
  readonly elsewhere?: readonly string[];
  /** The virtual host, region or namespace, if the input has several. */
  readonly part?: string | undefined;
  /** True to declare the new queue of each consumer whose queue cannot change in place. */
  readonly isMoving?: boolean;
  /** The running broker that the deployment was read from. Without it the printed commands leave a gap. */
  readonly url?: string | undefined;
}

/**
 * The place of a system: the one that a person names, or the only one with queues, or with these queues.
 *
 * @returns no name if there is no choice, so that nothing has to be told apart
 */
export function choosePart(
  whole: unknown,
  target: Target,
  { queues, part }: Pick<AdoptionOptions, "queues" | "part">,
): Checked<{ readonly name: string | null; readonly deployment: unknown }> {
  const { adopter, auditor } = brokerOf(target);
  if (adopter === undefined || auditor === undefined) throw new Error("this broker has no adoption");
  const parts = auditor.partsOf(whole);
  const filled = parts.filter((each) => each.queues > 0);
  const named = part === undefined ? filled : parts.filter(({ name }) => name === part);
  const isHolding = ({ deployment }: (typeof named)[number]): boolean => adopter.infer(deployment, target, queues).ok;
  const holding = named.length > 1 && queues.length > 0 ? named.filter(isHolding) : named;
  const [found] = holding;
  if (found !== undefined && holding.length === 1)
    return accepted(parts.length === 1 ? { ...found, name: null } : found);
  if (filled.length === 0 && part === undefined) return accepted({ name: null, deployment: whole });
  const noun = auditor.partNoun;
  return refusedFor("RD315", {
    path: "",
    message:
      part !== undefined
        ? `there is no ${noun} ${JSON.stringify(part)}`
        : holding.length === 0
          ? `none of ${filled.length} has all of the work queues ${queues.join(", ")}, and a system lies in one ${noun}`
          : `a system lies in one ${noun}, and ${holding.length} have ${queues.length === 0 ? "queues" : queues.join(", ")}`,
    value: filled.map(({ name }) => name),
    help: `${part === undefined ? "choose one" : "name one that is there"}, as in --part ${JSON.stringify((found ?? filled[0])?.name ?? "")}`,
  });
}

/**
 * Infers a declaration, compiles and proves it, and compares the result with the topology that is there.
 *
 * A consumer that no declaration can have, such as one with a name that the compiler refuses, is left out with the
 * reason.
 *
 * @param whole the deployment of a broker
 */
export function adoptDeployment(whole: unknown, target: Target, options: AdoptionOptions): Checked<Adopted> {
  const { name, queues, elsewhere = [], part, isMoving = false, url = null } = options;
  const { adopter, auditor, differ, separator } = brokerOf(target);
  if (adopter === undefined || auditor === undefined) throw new Error("this broker has no adoption");
  const chosen = choosePart(whole, target, { queues, part });
  if (!chosen.ok) return chosen;
  const { deployment } = chosen.value;
  const found = adopter.infer(deployment, target, queues, elsewhere);
  if (!found.ok) return found;
  const used = withStrategy(target, found.value.strategy);
  const made = compiledDraft(found.value, used, found.value.name ?? name, separator, found.value.refused);
  if (!made.ok) return made;
  const { refused } = made.value;
  const { draft, proved, broken } = withAssumed(
    made.value,
    adopter.assumedOf?.(deployment, made.value.proved.compiled),
    used,
  );
  const drift = differ === undefined ? null : driftFrom(deployment, proved);
  if (drift?.ok === false) return drift;
  const own = auditor.targetOf(deployment);
  const today = own.ok ? (own.value ?? target) : target;
  const findings = auditor.audit(deployment, today, null).filter(isError);
  const upgradeFrom = needsUpgrade(today, target) ? brokerOf(today).formatTarget(today) : null;
  const losing = lossesAfter(deployment, found.value, proved, target);
  const differences = drift === null ? null : judgeDrift(drift.value);
  const incomplete = drift === null ? [] : otherDiagnostics({ ...drift.value, keptLetters: [] });
  const imports = adopter.importsOf(deployment, proved.compiled, draft.system.name, url);
  // The text asks for the upgrade apart.
  const compared = upgradeFrom === null ? differences : (differences?.filter(({ kind }) => kind !== "version") ?? null);
  const judged = compared?.filter((each) => isOpen(each, imports, adopter.fixed)) ?? null;
  const moved = imports.moves.length === 0 ? null : proveDraft(movedDraft(draft, imports.moves), used);
  const { declared } =
    moved?.ok === true ? adopter.importsOf(deployment, moved.value.compiled, draft.system.name, url) : imports;
  const written =
    isMoving && moved?.ok === true
      ? { draft: movedDraft(draft, imports.moves), proved: moved.value }
      : { draft, proved };
  return accepted(
    {
      ...written,
      isBroken: broken.length > 0,
      isMoved: written.draft !== draft,
      refused,
      unsaid: [...refused, ...draft.unsaid, ...unsaidOptions(draft.options)],
      judged,
      newPolicies: judged?.filter((each) => adopter.isNewPolicy?.(each) === true) ?? [],
      // The first entry is the component.
      added: declared - (imports.entries.length - 1),
      upgradeFrom,
      findings,
      effect: adopter.effect,
      fixed: new Map(
        (differences ?? [])
          .filter(({ change, kind }) => change === "different" && adopter.fixed.includes(kind))
          .map((each) => [`${each.kind} ${each.name}`, each]),
      ),
      terraformType: adopter.terraformType,
      imports,
    },
    [
      ...[found.warnings, made.warnings, drift?.warnings ?? [], draft.warnings, broken, losing, incomplete].flat(),
      ...(moved?.ok === false ? moved.diagnostics : []),
    ],
  );
}

/**
 * True for a difference that neither an import nor a move explains. A deployment makes missing resources, and writes no
 * policy for a queue that gives way to a new one. The printed steps end the ways into old queues and dead queues.
 */
function isOpen(
  { change, kind, name, consumers }: JudgedDifference,
  { moves, stays, left }: Imports,
  fixed: readonly string[],
): boolean {
  if (change === "missing" || kind === "system" || fixed.includes(kind)) return false;
  if (moves.length > 0 && left.some(({ place }) => place === `queue ${name}`)) return false;
  const hasSteps = (consumer: string): boolean =>
    [...moves, ...stays.filter(({ isDeployed }) => !isDeployed)].some((each) => each.consumer === consumer);
  return change !== "extra" || consumers.length === 0 || !consumers.every(hasSteps);
}

/** The losses that the topology does not have today, and has after a deployment over it. */
function lossesAfter(
  deployment: unknown,
  found: FoundSystem,
  { compiled }: Proved,
  target: Target,
): readonly Diagnostic[] {
  const { adopter, auditor } = brokerOf(target);
  if (adopter === undefined || auditor === undefined) return [];
  const before = auditor.audit(deployment, target, null).filter(isError);
  const known = new Set(before.map(({ code, path }) => `${code} ${path}`));
  const after = adopter.deployedOver(deployment, compiled);
  const worse = auditor
    .audit(after, target, null)
    .filter((each) => isError(each) && !known.has(`${each.code} ${each.path}`));
  const safe = found.consumers.flatMap(({ queue, isLossy }) => (isLossy ? [] : [queue]));
  const later = safe.length === 0 ? null : adopter.infer(after, target, safe);
  const lossy = later?.ok === true ? later.value.consumers.filter(({ isLossy }) => isLossy) : [];
  return [
    ...worse.map(({ path, message, notes }) => losingOver(path, message, notes)),
    ...lossy.map(({ queue }) => losingOver(queue, `${queue} has no way on for a rejected message`, [])),
  ];
}

/**
 * Adds settings of the target that others own. If no promise holds with them, the draft stays as it is proved without
 * them, with the reason.
 */
function withAssumed(
  { draft, proved }: Pick<Made, "draft" | "proved">,
  assumed: object | undefined,
  target: Target,
): Pick<Made, "draft" | "proved"> & { readonly broken: readonly Diagnostic[] } {
  if (assumed === undefined || Object.keys(assumed).length === 0) return { draft, proved, broken: [] };
  const full = { ...draft, options: { ...draft.options, ...assumed } };
  const held = proveDraft(full, target);
  return held.ok ? { draft: full, proved: held.value, broken: [] } : { draft: full, proved, broken: held.diagnostics };
}

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

/** A loss that the topology does not have today. */
function losingOver(path: string, message: string, notes: readonly string[]): Diagnostic {
  return diagnostic("RD334", {
    path,
    message: `after a deployment over it: ${message}`,
    notes,
    help: `give its consumer a queue with a new name, bind it, and let the old queue run empty, as in ${docsPage("adopting")}`,
  });
}

/** A system that Redeliver made keeps its strategy, because another one would need other queues. */
function withStrategy(target: Target, strategy: string | null): Target {
  if (strategy === null || !("strategy" in target) || target.strategy !== "auto") return target;
  const { parseTarget, formatTarget } = brokerOf(target);
  const [, detail = ""] = formatTarget(target).split("@");
  const parsed = parseTarget(detail, strategy);
  return parsed.ok ? parsed.value : target;
}
