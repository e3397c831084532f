import { inShell } from "../adopt/in-shell.ts";
import { docsPage } from "../diagnostics/docs-site.ts";
import { visible } from "../diagnostics/visible.ts";
import type { LettersOut, Move, OldWays, Stay, StillUsed } from "../adopt/found.ts";
import { editFor } from "../adopt/moved-draft.ts";
import type { Adopted } from "../migrate/adopt.ts";

/**
 * The steps of a consumer to a new queue. Both queues are bound for a moment, because the other order loses messages.
 *
 * @param hasState true if another program owns the ways into the old queue, and would make them again
 * @param file the file of the declaration, as a person types it
 */
export function renderMove(move: Move, adopted: Adopted, hasState: boolean, file: string): string {
  const { draft, isMoved } = adopted;
  const { consumer, queue, next, keptDead, backWays, letters, waits, sharedWaits, used, takenOver, isOrdered } = move;
  const back = [...waits, ...sharedWaits].filter((each) => !takenOver.includes(each));
  const emptied = [...used.filter(isEnding).map((each) => each.queue), ...sharedWaits];
  // In the middle of a move, a consumer with sources has no way into its old queue any more.
  const isDirect = !Object.hasOwn(draft.system.consumers[consumer] ?? {}, "from");
  // No step brings the messages of another queue to the new one.
  const isFed = !used.filter(isEnding).some((each) => each.queue === queue);
  const steps = [
    [isMoved ? `deploy ${next}` : editFor(draft, move)],
    ...renderWaysIn(move, hasState, isDirect),
    // In a dead queue that stays, nothing tells the letters of the new code from the old ones up to 3.12.
    ...(letters === null || keptDead === null ? [] : [renderRedrive(letters, queue, whileOld, true)]),
    [
      `${isOrdered ? "" : `start the new code of ${consumer}, and `}let the old code empty ${queue}${back.length === 0 ? "" : `, with the messages that come back from ${back.join(", ")}`}`,
      ...(takenOver.length === 0
        ? []
        : [`messages in ${takenOver.join(", ")} come back to ${next}, where they have all attempts again`]),
      ...(backWays.length === 0
        ? []
        : [`if producers publish to ${backWays.join(", ")} as well, keep the old code until none does`]),
    ],
    ...(letters === null || keptDead !== null
      ? []
      : [
          [
            ...renderRedrive(letters, queue, whileOld, false),
            ...toNewCode(letters, queue, wordsFor(adopted, consumer, file)),
          ],
        ]),
    [
      ...(keptDead === null || letters === null
        ? []
        : letters.isShared
          ? [
              `look again at the letters of ${keptDead} that died in ${queue}: send or export them now, because no redrive sends them without ${queue}`,
            ]
          : [
              `look again at the letters of ${keptDead} that died in ${queue}. Without ${queue} they go to ${next}:`,
              redriveTo(letters, queue, wordsFor(adopted, consumer, file)),
            ]),
      ...(isFed
        ? []
        : [
            `when ${areEmpty(emptied)}${alsoWhen(used)}, stop the old code. If nothing came back into ${emptied.length === 1 ? "it" : "them"}, send:`,
            ...move.remove,
          ]),
      ...renderFed(used),
      ...(isFed ? [`keep the old code of ${queue} until then, because they do not come into ${next}`] : []),
      ...(isOrdered
        ? [`then start the new code of ${consumer}: an earlier start would change the order of messages`]
        : []),
    ],
    ...renderOldWays(move.oldWays, hasState),
    // Both queues may have one dead queue.
    ...(keptDead === null ? renderLettersEnd(letters) : []),
  ];
  return renderSteps(
    isMoved ? `${next} takes the place of ${queue}` : `${consumer} needs a new queue beside ${queue}`,
    steps,
  );
}

const whileOld = "the old code runs";

/** A request by the shell function of the page, and a command by npx. */
function runnable(line: string): string {
  return line.replace(/^(?=(DELETE|PUT) \/api\/)/, "api ").replace(/^(?=redeliver )/, "npx ");
}

type Steps = readonly (readonly string[])[];

function renderSteps(title: string, steps: Steps): string {
  const lines = steps.flatMap(([first = "", ...more], index) => [
    `${index + 1}. ${first}`,
    ...more.map((each) => `   ${runnable(each)}`),
  ]);
  return `${visible(title)}, as in ${docsPage("adopting")}:\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;
}

/**
 * The steps of a consumer with a queue that stays. The old code goes first: two codes at work would mix up the order of
 * messages.
 */
export function renderStay(
  { consumer, queue, isDeployed, deadQueue, letters, waits, used, remove, oldWays }: Stay,
  hasState: boolean,
): string {
  const ending = used.filter(isEnding).map((each) => each.queue);
  return renderSteps(`${consumer} keeps the queue ${queue}`, [
    ...(isDeployed ? [] : [[`deploy, stop the old code of ${consumer}, and start the new code`]]),
    ...(letters === null
      ? []
      : [
          [
            ...renderRedrive(letters, queue, "the new code runs", false),
            `letters that die again come into ${deadQueue}`,
          ],
        ]),
    ...(waits.length === 0
      ? []
      : [
          [
            ...(remove.length === 0
              ? []
              : [`when ${areEmpty(ending)}${alsoWhen(used)}, send:`, ...remove, ...takenOut(hasState)]),
            ...renderFed(used),
          ],
        ]),
    ...renderOldWays(oldWays, hasState),
    ...(letters?.dead === deadQueue ? [] : renderLettersEnd(letters)),
  ]);
}

/** The end of a dead queue, unless letters of others come into it. */
function renderLettersEnd(letters: LettersOut | null): Steps {
  if (letters === null) return [];
  if (letters.isShared)
    return [[`leave ${letters.dead} as long as letters of others come into it, and delete it when it is empty`]];
  return [
    [
      `when ${areEmpty([letters.dead, ...letters.before.map((each) => each.queue)])}${alsoWhen(letters.before)}, and no other consumer's letters come into ${letters.dead}, send:`,
      ...letters.remove,
      ...(letters.policy === null ? [] : [letters.policy.end]),
    ],
  ];
}

function areEmpty(queues: readonly string[]): string {
  return `${queues.join(", ")} ${queues.length === 1 ? "is" : "are"} empty`;
}

/** True for an old queue that no dead letters of others come into. */
const isEnding = ({ feeders }: StillUsed): boolean => feeders.length === 0;

/** A condition for the deletion of queues that programs may publish into. */
function alsoWhen(used: readonly StillUsed[]): string {
  const publishers = [...new Set(used.filter(isEnding).flatMap(({ publishers }) => publishers))];
  return publishers.length === 0 ? "" : `, and no program publishes to ${publishers.join(", or to ")} any more`;
}

function renderFed(used: readonly StillUsed[]): readonly string[] {
  return used
    .filter((each) => !isEnding(each))
    .map(({ queue, feeders }) => `leave ${queue} as long as ${feeders.join(" and ")} come into it`);
}

/** The last steps: they end the ways that only the old code takes. */
function renderOldWays({ ends, staying }: OldWays, hasState: boolean): Steps {
  return [
    ...ends.map(({ source, keys, behind, unbind }) => [
      `when ${behind.length === 0 ? "" : `${areEmpty(behind)}, and `}no program publishes to ${source}${keys.length === 0 ? "" : ` with ${keys.join(", ")}`} any more, and none binds it as it starts, send:`,
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
function renderWaysIn({ queue, next, unbind, choosing, ...ways }: Move, hasState: boolean, isDirect: boolean): Steps {
  const staying = ways.staying.filter((each) => !ways.backWays.includes(each));
  const others = staying.join(", ");
  return [
    ...(unbind.length > 0
      ? [
          [
            `at once send these requests; until then each new message is in both queues${choosing.length === 0 ? "" : `. ${choosing.join(", ")} gives each message to one of them`}:`,
            ...unbind,
            ...(choosing.length === 0
              ? []
              : [
                  `a new binding gives some keys of ${choosing.join(", ")} to another queue. If their order matters, stop the producers before you deploy, until the old queues are empty`,
                ]),
            ...(unbind.some((each) => each.endsWith("/PROPERTIES_KEY"))
              ? ["only a running broker shows the PROPERTIES_KEY of a binding: run adopt with --url"]
              : []),
            hasState
              ? "then take these bindings out of the code that made them, or its next deployment makes them again"
              : "if the old code binds its queue as it starts, send them again after each start",
          ],
        ]
      : []),
    ...(isDirect && unbind.length === 0 && ways.staying.length === 0 ? [[`let the producers send to ${next}`]] : []),
    ...(staying.length === 0
      ? []
      : [
          [
            `find out who publishes to ${others}. Their messages still come into ${queue}, so keep the old code until nobody does`,
          ],
        ]),
  ];
}

/** The way of letters that the old code cannot handle. */
function toNewCode(letters: LettersOut, queue: string, words: string): readonly string[] {
  if (letters.limit !== null) return [];
  return [
    "letters that no code can handle: choose them by a filter such as --type, --body or --generation, and remove them into a file:",
    `redeliver dead discard ${chosenBy(letters, queue)} --backup ${inShell(`${letters.dead}.ndjson`)} --why REASON --type TYPE`,
    "letters that only the new code can handle: send them there. Many that die there make its circuit breaker pause all messages:",
    redriveTo(letters, queue, words),
  ];
}

/** The command that sends letters to a consumer of the declaration, by the words that name it. */
function redriveTo(letters: LettersOut, queue: string, words: string): string {
  return `redeliver dead redrive ${words} ${chosenBy(letters, queue)}`;
}

/** The words that choose the letters of one old work queue in its dead queue. */
function chosenBy({ dead, isShared, at }: LettersOut, queue: string): string {
  return `--queue ${inShell(dead)} ${isShared ? `--failed-in ${inShell(queue)} ` : ""}${at}`;
}

/** The words that name a consumer of the declaration. A target with settings has a file of its own. */
function wordsFor({ draft, proved }: Adopted, consumer: string, file: string): string {
  const hasSettings = Object.keys(draft.options).length > 0;
  return `${file} --target ${hasSettings ? "TARGET" : proved.compiled.target} --consumer ${inShell(consumer)}`;
}

/** The way of the letters back to the old code, which may know what to do with them. */
function renderRedrive(
  { dead, policy, limit, redrive, isShared, before }: LettersOut,
  queue: string,
  running: string,
  isKept: boolean,
): readonly string[] {
  const waiting =
    before.length === 0 ? "" : `, and when ${areEmpty(before.map((each) => each.queue))}, because letters wait there`;
  if (limit !== null)
    return [
      `${dead} has the delivery limit ${limit}, and no policy takes it away, so redeliver dead refuses it. While ${running}, move its letters to ${queue} by a shovel`,
    ];
  return [
    `while ${running}${isKept ? " and the new code does not" : ""}${waiting}, send the letters of ${dead} again${policy === null ? ":" : ". A policy first takes away its delivery limit, because each look counts:"}`,
    ...(policy === null ? [] : [policy.set]),
    // The management API shows a new policy, also one of the deployment, after up to 10 s.
    ...(policy === null && !isKept ? [] : ["sleep 10"]),
    redrive,
    "this only counts the letters: run it again with the --confirm that it prints, to send them. If others have come meanwhile, count again. It stops if more than 10 % die again, and --stop-above takes another limit",
    // The step that deletes the queue ends the policy as well.
    ...(isShared && policy !== null ? ["when it has sent them, end the policy:", policy.end] : []),
    ...(isShared
      ? [`letters that name no queue stay: choose those of this consumer by a filter, with --work-queue ${queue}`]
      : []),
    ...(redrive.includes("HOST")
      ? ["USER and HOST are those of your broker: run adopt with --url to have them here"]
      : []),
    ...(redrive.includes("AMQP_PORT") ? ["AMQP_PORT is the broker's port for AMQP, which is often 5672"] : []),
  ];
}
