import { docsPage } from "../diagnostics/docs-site.ts";
import type { Paint } from "../diagnostics/paint.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { nameSome } from "../foreign/finding.ts";
import { visible } from "../diagnostics/visible.ts";
import { type LettersOut, type Move, type OldWays, type Stay, type Unsaid, groupedByFact } from "../adopt/found.ts";
import { editFor } from "../adopt/moved-draft.ts";
import type { Adopted } from "../migrate/adopt.ts";
import { type DriftWords, type JudgedDifference, effectWords, joinAlike } from "../migrate/judge-drift.ts";
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
 */
export function renderAdoption(adopted: Adopted, colour: boolean | Paint, forget: readonly string[] | null): string {
  const { proved, isMoved, findings, imports, added, fixed, newPolicies } = adopted;
  const judged = adopted.judged?.filter((each) => !newPolicies.includes(each)) ?? null;
  const losses = [...adopted.unsaid.filter(({ isLoss }) => isLoss), ...lossesWithout(adopted)];
  const { compiled } = proved;
  const there = imports.entries.length - 1;
  const title = `${compiled.topology.system} on ${compiled.target}`;
  const listed = (all: Adopted["unsaid"]): string =>
    groupedByFact(all)
      .map(({ place, fact }) => `  ${visible(`${place}: ${fact}`)}\n`)
      .join("");
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
  const cannotChange = imports.left.filter(({ place }) => /^(queue|exchange) /.test(place));
  return [
    `Inferred, and nothing is changed:\n${consumers.join("")}`,
    ...(findings.length + losses.length === 0
      ? []
      : [
          `These lose messages today:\n${listed(losses)}${moving.size === 0 ? "" : briefly(findings)}${findings.length > 0 && moving.size === 0 ? "" : "  The declared system loses none of them.\n"}`,
        ]),
    ...(findings.length === 0 || moving.size > 0 ? [] : [`${renderDiagnostics(findings, { colour })}\n`]),
    ...(judged === null || (judged.length === 0 && moving.size + newPolicies.length > 0)
      ? []
      : [
          `The compiled declaration against the input:\n\n${renderDriftText({ title, judged, words: againstFound(adopted), others: [], costs: null }, colour)}`,
        ]),
    ...(adopted.unsaid.length === 0
      ? []
      : [`The comments at the end of the declaration have what it cannot say (${adopted.unsaid.length}).\n`]),
    ...(cannotChange.length === 0
      ? []
      : [
          `These cannot change in place${imports.moves.length === 0 ? `; the way is in ${docsPage("changing")}` : ", so their consumers move. --json shows what would happen to a message"}:\n${renderFixed(cannotChange, fixed, moving.size > 0)}`,
        ]),
    ...imports.moves.map((move) => renderMove(move, adopted, forget !== null)),
    ...imports.stays.map((stay) => renderStay(stay, forget !== null)),
    `there     ${counted(there)}, ${there === 0 ? "so nothing needs an import" : "which an import can take over"}\nnew       ${counted(added)}, which a deployment makes with these retries\n`,
    ...(forget === null || forget.length === 0
      ? []
      : [
          `The state that you read owns these resources as well. After the import run these commands. Then remove the code of these resources, and of no others. In another order a deployment deletes them, with their messages:\n${forget.map((each) => `  ${visible(each)}\n`).join("")}`,
        ]),
  ].join("\n");
}

/** The losses that the new policies end. `unsaid` may name the queue already. */
function lossesWithout({ newPolicies, unsaid }: Adopted): readonly Unsaid[] {
  const known = new Set(unsaid.flatMap(({ place, isLoss }) => (isLoss ? [place] : [])));
  return newPolicies
    .filter(({ effect, name }) => effect === "loss" && !known.has(name))
    .map(({ name, reason }) => ({ place: name, fact: reason }));
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
    : [effectWords[effect], ...(reason === "" ? [] : [why]), ...trace.map((step, at) => `${at + 1}. ${step}`)];
  return lines.map((line) => `    ${visible(line)}\n`).join("");
}

/**
 * The steps of a consumer to a new queue. Both queues are bound for a moment, because the other order loses messages.
 *
 * @param hasState true if another program owns the ways into the old queue, and would make them again
 */
function renderMove(move: Move, { draft, isMoved }: Adopted, hasState: boolean): string {
  const { consumer, queue, next, keptDead, backWays, letters, waits, takenOver, isOrdered } = move;
  const back = waits.filter((each) => !takenOver.includes(each));
  const steps = [
    [isMoved ? `deploy ${next}` : editFor(draft, move)],
    ...renderWaysIn(move, hasState),
    // In a dead queue that stays, nothing tells the letters of the new code from the old ones up to 3.12.
    ...(letters === null || keptDead === null ? [] : [renderRedrive(letters, queue, true)]),
    [
      `${isOrdered ? "" : `start the new code of ${consumer}, and `}let the old code empty ${queue}${back.length === 0 ? "" : `, with the messages that come back from ${back.join(", ")}`}`,
      ...(takenOver.length === 0
        ? []
        : [`messages in ${takenOver.join(", ")} come back to ${next}, where they have all attempts again`]),
      ...(backWays.length === 0
        ? []
        : [`if producers publish to ${backWays.join(", ")} as well, keep the old code until none does`]),
    ],
    ...(letters === null || keptDead !== null ? [] : [renderRedrive(letters, queue, false)]),
    [
      ...(keptDead === null || letters === null
        ? []
        : [`send the letters of ${keptDead} again that name ${queue}: they go only while it is there`]),
      `when ${[queue, ...waits].join(", ")} ${waits.length === 0 ? "is" : "are"} empty, stop the old code. If nothing came back into ${waits.length === 0 ? "it" : "them"}, send:`,
      ...move.remove,
      ...(isOrdered
        ? [`then start the new code of ${consumer}: an earlier start would change the order of messages`]
        : []),
    ],
    ...renderOldWays(move.oldWays, hasState),
    // Both queues have one dead queue, or it has letters of others.
    ...(letters === null || letters.isShared || keptDead !== null
      ? []
      : [
          [
            `when ${letters.dead} is empty, and no other consumer's letters come into it, send:`,
            letters.remove,
            ...(letters.policy === null ? [] : [letters.policy.end]),
          ],
        ]),
  ];
  return renderSteps(
    isMoved ? `${next} takes the place of ${queue}` : `${consumer} needs a new queue beside ${queue}`,
    steps,
  );
}

type Steps = readonly (readonly string[])[];

function renderSteps(title: string, steps: Steps): string {
  const lines = steps.flatMap(([first = "", ...more], index) => [
    `${index + 1}. ${first}`,
    ...more.map((each) => `   ${each}`),
  ]);
  return `${visible(title)}, as in ${docsPage("adopting")}:\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;
}

/**
 * The steps of a consumer with a queue that stays. The old code goes first: two codes at work would mix up the order of
 * messages.
 */
function renderStay({ consumer, queue, isDeployed, waits, remove, oldWays }: Stay, hasState: boolean): string {
  return renderSteps(`${consumer} keeps the queue ${queue}`, [
    ...(isDeployed ? [] : [[`deploy, stop the old code of ${consumer}, and start the new code`]]),
    ...(waits.length === 0
      ? []
      : [
          [
            `when ${waits.join(", ")} ${waits.length === 1 ? "is" : "are"} empty, send:`,
            ...remove,
            ...takenOut(hasState),
          ],
        ]),
    ...renderOldWays(oldWays, hasState),
  ]);
}

/** The last steps: they end the ways that only the old code takes. */
function renderOldWays({ ends, staying }: OldWays, hasState: boolean): Steps {
  return [
    ...ends.map(({ source, keys, behind, unbind }) => [
      `when ${behind.length === 0 ? "" : `${behind.join(", ")} ${behind.length === 1 ? "is" : "are"} empty, and `}no program publishes to ${source}${keys.length === 0 ? "" : ` with ${keys.join(", ")}`} any more, send:`,
      ...unbind,
      ...takenOut(hasState),
    ]),
    ...staying.map(({ source, because }) => [`leave the bindings of ${source}: ${because}`]),
  ];
}

function takenOut(hasState: boolean): readonly string[] {
  return hasState ? ["then take these out of the code that made them, or its next deployment makes them again"] : [];
}

/** The steps by which new messages come into the new queue alone. */
function renderWaysIn({ queue, next, unbind, ...ways }: Move, hasState: boolean): readonly (readonly string[])[] {
  const staying = ways.staying.filter((each) => !ways.backWays.includes(each));
  const others = staying.join(", ");
  return [
    ...(unbind.length > 0
      ? [
          [
            "at once send these requests; until then each new message is in both queues:",
            ...unbind,
            ...(unbind.some((each) => each.endsWith("/PROPERTIES_KEY"))
              ? ["only a running broker shows the PROPERTIES_KEY of a binding: run adopt with --url"]
              : []),
            hasState
              ? "then take these bindings out of the code that made them, or its next deployment makes them again"
              : "if the old code binds its queue as it starts, send them again after each start",
          ],
        ]
      : []),
    ...(unbind.length === 0 && ways.staying.length === 0 ? [[`let the producers send to ${next}`]] : []),
    ...(staying.length === 0
      ? []
      : [
          [
            `find out who publishes to ${others}. Their messages still come into ${queue}, so keep the old code until nobody does`,
          ],
        ]),
  ];
}

/** The way of the letters back to the old code, which may know what to do with them. */
function renderRedrive(
  { dead, policy, limit, redrive, isShared }: LettersOut,
  queue: string,
  isKept: boolean,
): readonly string[] {
  if (limit !== null)
    return [
      `${dead} has the delivery limit ${limit}, and no policy takes it away, so redeliver dead refuses it. While the old code runs, move its letters to ${queue} by a shovel`,
    ];
  return [
    `while the old code runs${isKept ? " and the new code does not" : ""}, send the letters of ${dead} again${policy === null ? ":" : ". A policy first takes away its delivery limit, because each look counts:"}`,
    ...(policy === null ? [] : [policy.set]),
    // The management API shows a new policy, also one of the deployment, after up to 10 s.
    ...(policy === null && !isKept ? [] : ["sleep 10"]),
    redrive,
    "this only counts the letters: run it again with the --confirm that it prints, to send them",
    ...(isShared
      ? [`letters that name no queue stay: choose those of this consumer by a filter, with --work-queue ${queue}`]
      : []),
    ...(redrive.includes("HOST")
      ? ["USER and HOST are those of your broker: run adopt with --url to have them here"]
      : []),
    ...(redrive.includes("AMQP_PORT") ? ["AMQP_PORT is the broker's port for AMQP, which is often 5672"] : []),
  ];
}
