import { numberedSteps } from "../diagnostics/numbered-steps.ts";
import { docsPage } from "../diagnostics/docs-site.ts";
import type { Paint } from "../diagnostics/paint.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { nameSome } from "../foreign/finding.ts";
import { visible } from "../diagnostics/visible.ts";
import { type Unsaid, groupedByFact } from "../adopt/found.ts";
import type { Adopted } from "../migrate/adopt.ts";
import { type DriftWords, type JudgedDifference, effectWords, joinAlike } from "../migrate/judge-drift.ts";
import { type TypedFiles, renderMove, renderStay } from "./adoption-steps.ts";
import { renderDriftText } from "./drift.ts";

/** An inferred declaration, and the topology that it was inferred from. */
export const againstFound = ({ effect }: Adopted): DriftWords => ({
  missing: "is new",
  extra: "stays and is not declared",
  different: "differs",
  sides: ["declared", "there"],
  help: effect,
});

/**
 * Renders an adoption for a person: the consumers, the losses of today, the differences, the steps. The facts that no declaration says
 * are at the end of the declaration.
 *
 * @param forget the commands that take resources out of the state of another program; null if no state was read
 * @param files those of the declaration and the target
 */
export function renderAdoption(
  adopted: Adopted,
  colour: boolean | Paint,
  forget: readonly string[] | null,
  files: TypedFiles = { file: "FILE", target: null },
): string {
  const { proved, isMoved, isBroken, refused, findings, imports, added, fixed, newPolicies } = adopted;
  const judged = adopted.judged?.filter((each) => !newPolicies.includes(each)) ?? null;
  const losses = [...adopted.unsaid.filter(({ isLoss }) => isLoss), ...lossesWithout(adopted)];
  const { compiled } = proved;
  const there = imports.entries.length - 1;
  const title = `${compiled.topology.system} on ${compiled.target}`;
  const moving = new Map<string | null, string>(
    imports.moves.map(({ queue, next }) =>
      isMoved ? [next, `takes the place of ${queue}`] : [queue, "needs a new queue"],
    ),
  );
  const isStaying = (consumer: string): boolean =>
    Object.hasOwn(adopted.draft.system.consumers[consumer] ?? {}, "queueSettings");
  const consumers = compiled.contracts.map(({ consumer, workQueue, deadQueue, attempts, strategy }) => {
    const move = moving.get(workQueue);
    const fate =
      move === undefined
        ? isStaying(consumer)
          ? "; it keeps its queue"
          : ""
        : `; it ${move}, by the steps at the end`;
    return `  ${visible(`${workQueue}: ${attempts.length} attempt${attempts.length === 1 ? "" : "s"} by ${strategy}, then ${deadQueue}${fate}`)}\n`;
  });
  const cannotChange = imports.left.filter(({ place }) => /^(queue|exchange|topic|subscription) /.test(place));
  return [
    `Inferred, and nothing is changed:\n${consumers.join("")}`,
    ...(adopted.upgradeFrom === null
      ? []
      : [
          `The input is of ${adopted.upgradeFrom}, and the declaration for ${compiled.target}: upgrade the broker first, or name --target ${adopted.upgradeFrom}.\n`,
        ]),
    ...(findings.length + losses.length === 0
      ? []
      : [
          `These lose messages today:\n${listed(losses)}${moving.size === 0 ? "" : briefly(findings)}${isBroken || refused.length > 0 || (findings.length > 0 && moving.size === 0) ? "" : "  The declared system loses none of them.\n"}`,
        ]),
    ...(findings.length === 0 || moving.size > 0 ? [] : [`${renderDiagnostics(findings, { colour })}\n`]),
    ...(judged === null || (judged.length === 0 && moving.size + newPolicies.length > 0)
      ? []
      : [
          `The compiled declaration against the input:\n\n${renderDriftText({ title, judged, words: againstFound(adopted), others: [], costs: null }, colour)}`,
        ]),
    ...(adopted.unsaid.length === 0
      ? []
      : [
          `The comments at the end of the declaration have what it cannot say (${groupedByFact(adopted.unsaid).length}).\n`,
        ]),
    ...(cannotChange.length === 0
      ? []
      : [
          `These cannot change in place${imports.moves.length === 0 ? `; the way is in ${docsPage("changing")}` : ", so their consumers move. --json shows what would happen to a message"}:\n${renderFixed(cannotChange, fixed, moving.size > 0)}`,
        ]),
    ...imports.moves.map((move) => renderMove(move, adopted, forget !== null, files)),
    ...imports.stays.map((stay) => renderStay(stay, adopted, forget !== null, files)),
    `there     ${counted(there)}, ${there === 0 ? "so nothing needs an import" : "which an import can take over"}\nnew       ${counted(added)}, which a deployment makes with these retries\n`,
    ...(forget === null || forget.length === 0
      ? []
      : [
          `The state that you read owns these resources as well. After the import run these commands. Then remove the code of these resources, and of no others. In another order a deployment deletes them, with their messages${forget.some((each) => each.includes(" --force ")) ? ". --force is for those that Pulumi protects" : ""}:\n${forget.map((each) => `  ${visible(each)}\n`).join("")}`,
        ]),
  ].join("\n");
}

function listed(all: Adopted["unsaid"]): string {
  return groupedByFact(all)
    .map(({ place, fact }) => `  ${visible(`${place}: ${fact}`)}\n`)
    .join("");
}

/** The losses that the new policies end. `unsaid` may name the queue already. */
function lossesWithout({ newPolicies, unsaid, upgradeFrom }: Adopted): readonly Unsaid[] {
  // The policies are judged by the rules of the target, which are not those of an older broker.
  if (upgradeFrom !== null) return [];
  const known = new Set(unsaid.flatMap(({ place, isLoss }) => (isLoss ? [place] : [])));
  return joinAlike(newPolicies.filter(({ effect, name }) => effect === "loss" && !known.has(name))).map(
    ({ name, alike = [], reason }) => ({ place: nameSome([name, ...alike]), fact: reason }),
  );
}

/** The findings that a move ends. The way of each lost message is in the audit. */
function briefly(findings: Adopted["findings"]): string {
  const lines = findings.map(({ code, message }) => `  ${visible(message)} (${code})\n`);
  return `${lines.join("")}${lines.length === 0 ? "" : "  redeliver audit shows how they are lost.\n"}`;
}

const counted = (count: number): string => `${count} resource${count === 1 ? "" : "s"}`;

/** The resources that no deployment changes. The first of those that are alike stands for the others. */
function renderFixed(left: readonly Unsaid[], fixed: Adopted["fixed"], isMoving: boolean): string {
  const groups = new Map(
    joinAlike(left.flatMap(({ place }) => fixed.get(place) ?? [])).map((each) => [`${each.kind} ${each.name}`, each]),
  );
  const isAlike = (place: string): boolean => fixed.has(place) && !groups.has(place);
  return left
    .filter(({ place }) => !isAlike(place))
    .map(({ place, fact }) => {
      const { alike = [] } = groups.get(place) ?? {};
      const others = alike.length === 0 ? "" : `    alike: ${visible(alike.join(", "))}\n`;
      return `  ${visible(`${place}: ${fact}`)}\n${others}${effectOf(groups.get(place), isMoving)}`;
    })
    .join("");
}

/** The effect of a difference that no deployment takes away. Without a move, the path of a message shows it. */
function effectOf(difference: JudgedDifference | undefined, isMoving: boolean): string {
  if (difference === undefined) return "";
  const { effect, reason, consumers, trace } = difference;
  const why = consumers.length === 0 ? reason : `${nameSome(consumers)}: ${reason}`;
  const whose = consumers.length === 0 ? "" : `${nameSome(consumers)} `;
  const lines = isMoving
    ? [reason === "" ? effectWords[effect] : `${whose}with the old arguments: ${reason}`]
    : [effectWords[effect], ...(reason === "" ? [] : [why]), ...numberedSteps(trace)];
  return lines.map((line) => `    ${visible(line)}\n`).join("");
}
