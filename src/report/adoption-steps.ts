import { inShell } from "../adopt/in-shell.ts";
import { docsPage } from "../diagnostics/docs-site.ts";
import { visible } from "../diagnostics/visible.ts";
import type { LettersOut, Move, OldWays, Stay, StillUsed } from "../adopt/found.ts";
import { editFor } from "../adopt/moved-draft.ts";
import type { Adopted } from "../migrate/adopt.ts";

/** The files that printed commands name, as a person types them. */
export interface TypedFiles {
  readonly file: string;
  /** Null if there is no file of the target. */
  readonly target: string | null;
}

/**
 * The steps of a consumer to a new queue. Both queues are bound for a moment, because the other order loses messages.
 *
 * @param hasState true if another program owns the ways into the old queue, and would make them again
 * @param files those of the declaration and the target
 */
export function renderMove(move: Move, adopted: Adopted, hasState: boolean, files: TypedFiles): string {
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
    [
      `${isOrdered ? "" : `start the new code of ${consumer}, and `}let the old code empty ${queue}${back.length === 0 ? "" : `, with the messages that come back from ${back.join(", ")}`}`,
      ...(takenOver.length === 0
        ? []
        : [`messages in ${takenOver.join(", ")} come back to ${next}, where they have all attempts again`]),
      ...(backWays.length === 0
        ? []
        : [`if producers publish to ${backWays.join(", ")} as well, keep the old code until none does`]),
    ],
    [
      ...(isFed
        ? []
        : [
            `when ${areEmpty(emptied)}${alsoWhen(used)}, stop the old code. If ${emptied.length === 1 ? "it is" : "they are"} still empty after 10 s, send:`,
            ...move.remove,
          ]),
      ...renderFed(used),
      ...(isFed ? [`keep the old code of ${queue} until then, because they do not come into ${next}`] : []),
      ...(isOrdered
        ? [`then start the new code of ${consumer}: an earlier start would change the order of messages`]
        : []),
    ],
    ...renderOldWays(move.oldWays, hasState),
    ...renderLetters(letters, { queue, now: next }, wordsFor(adopted, consumer, files)),
    // Both queues may have one dead queue.
    ...(keptDead === null ? renderLettersEnd(letters) : []),
  ];
  return renderSteps(
    isMoved ? `${next} takes the place of ${queue}` : `${consumer} needs a new queue beside ${queue}`,
    steps,
  );
}

/** A request by the shell function of the page, and a command by npx. */
function runnable(line: string): string {
  return line.replace(/^(?=(DELETE|PUT) '?\/api\/)/, "api ").replace(/^(?=redeliver )/, "npx ");
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
  { consumer, queue, isDeployed, letters, waits, used, remove, oldWays, ...stay }: Stay,
  adopted: Adopted,
  hasState: boolean,
  files: TypedFiles,
): string {
  const ending = used.filter(isEnding).map((each) => each.queue);
  return renderSteps(`${consumer} keeps the queue ${queue}`, [
    ...(isDeployed ? [] : [[`deploy, stop the old code of ${consumer}, and start the new code`]]),
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
    ...renderLetters(letters, { queue, now: queue }, wordsFor(adopted, consumer, files)),
    ...(letters?.dead === stay.deadQueue ? [] : renderLettersEnd(letters)),
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
              : "if the old code binds its queue as it starts or connects again, send them again after that",
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

/**
 * The step by which the letters of the old code go to the new one. It may come late, because they stay until then.
 *
 * @param names the old work queue and the present one, which may be the same
 * @param words name the consumer and its declaration
 */
function renderLetters(
  letters: LettersOut | null,
  { queue, now }: Readonly<Record<"queue" | "now", string>>,
  words: string,
): Steps {
  if (letters === null) return [];
  const { dead, policy, limit, isShared, before, at } = letters;
  const when =
    before.length === 0
      ? "at any time"
      : `as soon as ${areEmpty(before.map((each) => each.queue))}, because letters wait there`;
  if (limit !== null)
    return [
      [
        `${dead} has the delivery limit ${limit}, and no policy takes it away, so redeliver dead refuses it. ${isShared ? `It has letters of others. Move all of them by a shovel to a new queue without a limit, and send those of ${queue} from there` : `Move its letters to ${now} by a shovel`}`,
      ],
    ];
  const chosen = `--queue ${inShell(dead)} ${isShared ? `--failed-in ${inShell(queue)} ` : ""}${at}`;
  return [
    [
      `${when}, send the letters of ${dead} again${policy === null ? ":" : ". A policy first takes away its delivery limit, because each look counts:"}`,
      // The management API shows a new policy after up to 10 s.
      ...(policy === null ? [] : [policy.set, "sleep 10"]),
      `redeliver dead redrive ${words} ${chosen}`,
      "this only counts the letters: run it again with the --confirm that it prints, to send them. If others have come meanwhile, count again. It stops if more than 10 % die again, and --stop-above takes another limit",
      ...(isShared
        ? [
            `letters that name no queue stay: choose those of this consumer by a filter, with --queue ${inShell(dead)} --work-queue ${inShell(now)} in place of the declaration`,
          ]
        : []),
      "letters that no code can handle: remove them into a file. In place of FILTER write --type NAME, --body path=value or --error TEXT:",
      `redeliver dead discard ${chosen} --backup ${inShell(`${isShared ? `${dead}.${queue}` : dead}.ndjson`)} --why REASON FILTER`,
      ...(at.includes("HOST")
        ? ["USER and HOST are those of your broker: run adopt with --url to have them here"]
        : []),
      ...(at.includes("AMQP_PORT") ? ["AMQP_PORT is the broker's port for AMQP, which is often 5672"] : []),
      // Otherwise the step that deletes the queue ends the policy as well.
      ...(isShared && policy !== null ? ["when no letter of this consumer is left, end the policy:", policy.end] : []),
    ],
  ];
}

/** The words that name a consumer of the declaration. A target with settings has a file of its own. */
function wordsFor({ draft, proved }: Adopted, consumer: string, { file, target }: TypedFiles): string {
  const known = Object.keys(draft.options).length > 0 ? "TARGET" : proved.compiled.target;
  return `${file} --target ${target ?? known} --consumer ${inShell(consumer)}`;
}
