import { numberedSteps } from "../diagnostics/numbered-steps.ts";
import type { DeployedDifference, Drift } from "../brokers/drift.ts";
import { brokerOf } from "../brokers/index.ts";
import { type Deployed, partKey, partsBeside } from "./deployed.ts";
import { nameSome } from "../foreign/finding.ts";
import { wholeName } from "../foreign/purpose.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { type Checked, type Diagnostic, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { type Effect, type Judgement, effects, harmless, judgeAgainst } from "../verify/judge.ts";

type Side = Pick<Deployed, "target" | "compiled">;

/** Compares a system with a deployment of its broker. */
export function driftFrom(deployment: unknown, { target, compiled }: Side): Checked<Drift<unknown>> {
  return brokerOf(target).differ.compare(deployment, compiled, target);
}

/** Compares a system with a newer one as if that were deployed over it. The parts that are new are differences, too. */
export function driftBetween(old: Side, next: Side): Checked<Drift<unknown>> {
  const { differ, deployedPartsOf } = brokerOf(next.target);
  const drift = driftFrom(differ.deploymentOf(next.compiled, old.compiled), old);
  if (!drift.ok) return drift;
  const { differences, declared } = drift.value;
  const found = new Set(differences.map(partKey));
  const added = partsBeside(deployedPartsOf(next.compiled), deployedPartsOf(old.compiled))
    .filter((part) => !found.has(partKey(part)))
    .map(({ kind, name }): DeployedDifference<unknown> => {
      return { change: "extra", kind, name, settings: [], beside: null, subjects: declared };
    });
  return { ...drift, value: { ...drift.value, differences: [...differences, ...added] } };
}

/** A difference with its effect on messages. */
export interface JudgedDifference
  extends Pick<DeployedDifference<unknown>, "change" | "kind" | "name" | "settings" | "repair">, Judgement {}

/**
 * Judges each difference alone, by the system that is otherwise as declared. If all together are worse than the worst
 * one alone, the last entry says so.
 *
 * @returns the worst first
 */
export function judgeDrift<State>(drift: Drift<State>): readonly JudgedDifference[] {
  const judge = judgeAgainst(drift.declared());
  const judged = drift.differences.map(({ beside, subjects, ...difference }): JudgedDifference => {
    return { ...difference, ...worstOf([judge(subjects()), { ...harmless, ...beside }]) };
  });
  const alone = worstOf(judged);
  const together = judged.length < 2 ? alone : worstOf(drift.together().map(judge));
  if (rankOf(together) > rankOf(alone))
    judged.push({ change: "different", kind: "system", name: "as a whole", settings: [], ...together });
  return judged.toSorted((left, right) => rankOf(right) - rankOf(left));
}

function rankOf({ effect }: Judgement): number {
  return effects.indexOf(effect);
}

function worstOf(all: readonly Judgement[]): Judgement {
  return all.reduce((worst, each) => (rankOf(each) > rankOf(worst) ? each : worst), harmless);
}

/** A difference that stands for others. They are the same but for the names of the resource and its consumer. */
export interface SharedDifference extends JudgedDifference {
  /** The names of the others. */
  readonly alike?: readonly string[];
}

/** Joins the differences that have the same settings, found values, effect and reason. The first stands for the others. */
export function joinAlike(judged: readonly JudgedDifference[]): readonly SharedDifference[] {
  const groups = Map.groupBy(judged, ({ change, kind, name, settings, effect, reason, consumers: [consumer = name] }) =>
    JSON.stringify([change, kind, settings, effect, reason])
      .replaceAll(wherever(JSON.stringify(name).slice(1, -1)), "\uE000")
      .replaceAll(wherever(consumer), "\uE001"),
  );
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, alike: others.map(({ name }) => name) }],
  );
}

/** A short name, such as `low`, may be a part of another word. */
function wherever(name: string): RegExp {
  return new RegExp(wholeName(name), "gu");
}

/** The words for both sides of a comparison. */
export interface DriftWords extends Readonly<Record<JudgedDifference["change"] | "help", string>> {
  readonly sides: readonly [string, string];
}

/** A declaration and a broker. */
export const againstBroker: DriftWords = {
  missing: "is missing",
  extra: "is not declared",
  different: "differs",
  sides: ["declared", "deployed"],
  help: "deploy the system again; remove by hand each resource that is not declared, or declare it",
};

/** Two declarations. */
export const againstDeclaration: DriftWords = {
  missing: "is no longer declared",
  extra: "is new",
  different: "changes",
  sides: ["before", "after"],
  help: "check that the change means this",
};

const codes: Readonly<Record<Effect, DiagnosticCode>> = { loss: "RD311", otherwise: "RD312", harmless: "RD313" };

/** The effects as people read them. */
export const effectWords: Readonly<Record<Effect, string>> = {
  loss: "messages can be lost by it",
  otherwise: "messages behave otherwise",
  harmless: "harmless",
};

export function subjectOf({ kind, name, change, alike = [] }: SharedDifference, words: DriftWords): string {
  return `the ${kind} ${name} ${words[change]}${alike.length === 0 ? "" : `, like ${alike.length} more`}`;
}

/** The differences as diagnostics, with both values of each setting and the path of a message that shows the effect. */
export function driftDiagnostics(judged: readonly SharedDifference[], words: DriftWords): readonly Diagnostic[] {
  return judged.map((each) =>
    diagnostic(codes[each.effect], {
      path: [`${each.kind.replaceAll(" ", "-")}`, each.name],
      message: `${subjectOf(each, words)}: ${effectWords[each.effect]}`,
      notes: [...notesOf(each, words), ...numberedSteps(each.trace)],
      help: (words === againstBroker ? each.repair : undefined) ?? words.help,
    }),
  );
}

/** The resources that it stands for, both values of each setting, and the reason with the consumers that it concerns. */
export function notesOf(
  { alike = [], settings, consumers, reason }: SharedDifference,
  { sides }: DriftWords,
): readonly string[] {
  const text = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return [
    ...(alike.length === 0 ? [] : [`the same for ${nameSome(alike)}`]),
    ...settings.map(
      ({ key, declared, deployed }) => `${key}: ${sides[0]} ${text(declared)}, ${sides[1]} ${text(deployed)}`,
    ),
    ...(reason === "" ? [] : [consumers.length === 0 ? reason : `${nameSome(consumers)}: ${reason}`]),
  ];
}

/** The parts that no comparison of settings shows: dead letters without a way on, and parts that could not be read. */
export function otherDiagnostics({
  keptLetters,
  unread,
  unreadHelp,
}: Pick<Drift<unknown>, "keptLetters" | "unread" | "unreadHelp">): readonly Diagnostic[] {
  return [
    ...(unread.length === 0
      ? []
      : diagnosed("RD314", {
          path: "",
          message: `the comparison is incomplete: ${unread[0]}`,
          notes: unread.slice(1),
          help: unreadHelp,
        })),
    ...keptLetters.map(({ queue, letters }) =>
      diagnostic("RD312", {
        path: ["queue", queue],
        message: `${letters} dead letters of the queue ${queue} have reached no next queue`,
        notes: ["a busy queue has some on their way; letters that stay there are invisible to every consumer"],
        help: "look again; if the number stays, find the missing exchange, binding or room behind the queue",
      }),
    ),
  ];
}
