import { docsPage } from "../diagnostics/docs-site.ts";
import type { Paint } from "../diagnostics/paint.ts";
import { valueAt } from "../diagnostics/schema-issues.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Move } from "../adopt/found.ts";
import type { Adopted } from "../migrate/adopt.ts";
import type { DriftWords } from "../migrate/judge-drift.ts";
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
 * Renders an adoption for a person: the losses of today, the differences, the facts that are not declared.
 *
 * @param hasUnsaid false if these facts stand elsewhere already
 * @param forget the commands that take resources out of the state of another program; null if no state was read
 */
export function renderAdoption(
  adopted: Adopted,
  colour: boolean | Paint,
  hasUnsaid: boolean,
  forget: readonly string[] | null,
): string {
  const { proved, findings, judged, imports, added } = adopted;
  const losses = adopted.unsaid.filter(({ isLoss }) => isLoss);
  const unsaid = hasUnsaid ? adopted.unsaid.filter(({ isLoss }) => !isLoss) : [];
  const { compiled } = proved;
  const title = `${compiled.topology.system} on ${compiled.target}`;
  const listed = (all: Adopted["unsaid"]): string =>
    all.map(({ place, fact }) => `  ${visible(`${place}: ${fact}`)}\n`).join("");
  const consumers = compiled.contracts.map(
    ({ workQueue, deadQueue, attempts, strategy }) =>
      `  ${visible(`${workQueue}: ${attempts.length} attempt${attempts.length === 1 ? "" : "s"} by ${strategy}, then ${deadQueue}`)}\n`,
  );
  const cannotChange = imports.left.filter(({ place }) => /^(queue|exchange) /.test(place));
  return [
    ...(findings.length + losses.length === 0 ? [] : [`These lose messages today:\n${listed(losses)}`]),
    ...(findings.length === 0 ? [] : [`${renderDiagnostics(findings, { colour })}\n`]),
    ...(judged === null
      ? []
      : [
          `The compiled declaration against the input:\n\n${renderDriftText({ title, judged, words: againstFound(adopted), others: [] }, colour)}`,
        ]),
    `Inferred:\n${consumers.join("")}`,
    ...(unsaid.length === 0 ? [] : [`The declaration cannot say:\n${listed(unsaid)}`]),
    ...(cannotChange.length === 0
      ? []
      : [
          `These cannot change in place${imports.moves.length === 0 ? `; the way is in ${docsPage("changing")}` : ""}:\n${listed(cannotChange)}`,
        ]),
    ...imports.moves.map((move) => renderMove(move, adopted, forget !== null)),
    `there     ${imports.entries.length - 1} resources, which an import can take over\nnew       ${added} resources, which a deployment makes\n`,
    ...(forget === null || forget.length === 0
      ? []
      : [
          `The state that you read owns these resources as well. After the import run these commands. Then remove the code of these resources, and of no others. In another order a deployment deletes them, with their messages:\n${forget.map((each) => `  ${visible(each)}\n`).join("")}`,
        ]),
  ].join("\n");
}

/**
 * The steps of a consumer to a new queue. Both queues are bound for a moment, because the other order loses messages.
 *
 * @param hasState true if another program owns the ways into the old queue, and would make them again
 */
function renderMove(move: Move, { draft }: Adopted, hasState: boolean): string {
  const { consumer, queue, next, hasFixedDead, dead, unbind, staying, isOrdered } = move;
  const isNamed = valueAt(draft.system.consumers[consumer], ["deadLetter", "queue"]) !== undefined;
  const renamed = hasFixedDead && isNamed ? ", take the queue out of its deadLetter" : "";
  const steps = [
    [`write "queue: ${next}" for ${consumer} into the declaration${renamed}, and deploy`],
    unbind.length === 0
      ? [`let the producers send to ${next}`]
      : [
          "at once send these requests; until then each new message is in both queues:",
          ...unbind,
          ...(unbind.some((each) => each.endsWith("/PROPERTIES_KEY"))
            ? ["only a running broker shows the PROPERTIES_KEY of a binding: run adopt with --url"]
            : []),
          ...(hasState
            ? ["then take these bindings out of the code that made them, or its next deployment makes them again"]
            : []),
        ],
    [
      `${isOrdered ? "" : `start the new code of ${consumer}. `}The old code empties ${queue}, and the queues that its messages wait in`,
    ],
    ...(staying.length === 0
      ? []
      : [
          [
            `find out who publishes to ${staying.join(", ")}. These messages still come into ${queue}, so keep the old code`,
          ],
        ]),
    ...(dead === null
      ? []
      : [[`while the old code runs, send the letters of ${dead} again: redeliver dead redrive --queue ${dead}`]]),
    [
      `when ${queue} is empty, stop the old code. Delete ${queue}, and its waiting queues that no other consumer uses`,
      ...(isOrdered
        ? [`then start the new code of ${consumer}: an earlier start would change the order of messages`]
        : []),
    ],
  ];
  const lines = steps.flatMap(([first = "", ...more], index) => [
    `${index + 1}. ${first}`,
    ...more.map((each) => `   ${each}`),
  ]);
  return `${visible(`${consumer} needs a new queue beside ${queue}`)}, as in ${docsPage("changing")}:\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;
}
