import { diagnostic } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { type Editor, differencesBetween, editLetter, isSchema } from "../operate/edit.ts";
import type { LetterFacts } from "../operate/facts.ts";
import { digestOf, readFrozen, writeFrozen } from "../operate/frozen.ts";
import { historyWith } from "../operate/history.ts";
import type { Letter } from "../operate/letter.ts";
import { confirmProblem, planRedrive } from "../operate/plan.ts";
import type { Sending } from "../operate/port.ts";
import { type RedriveRules, fateOf, targetOf } from "../operate/redrive.ts";
import type { Word } from "../operate/take-out.ts";
import { renderTaken, renderTaking } from "../report/dead-taking.ts";
import { withLocks } from "./dead-journal.ts";
import { type Place, UsageError, atPlace, filterOf } from "./dead-place.ts";
import { type TakingOptions, answerTaken, runTaking, withBackup, wordOf } from "./dead-take-out.ts";
import { exitCodes } from "./exit-codes.ts";
import { exportOf, importModule, reasonOf, tell } from "./load-declaration.ts";
import { print } from "./output.ts";
import { refuse, usage } from "./refuse.ts";

export interface EditOptions extends TakingOptions {
  readonly with: string;
  readonly backup?: string;
  readonly generations?: number;
}

/** The letters whose differences are shown. */
const mostShown = 5;
const doing = "be edited and sent again";

/** Changes letters and sends them again, or shows the differences. */
export async function editCommand(file: string | undefined, options: EditOptions): Promise<number> {
  const { confirm, backup, with: module } = options;
  if (confirm !== undefined && backup === undefined)
    return usage("name a file for the originals with --backup", options);
  const loaded = await importModule(module);
  if (!loaded.ok) return refuse(loaded.diagnostics, options, { file: module }, exitCodes.usage);
  const edit = exportOf(loaded.value);
  const { schema = null } = loaded.value;
  if (typeof edit !== "function") return usage(`${module} has no function as its default export`, options);
  if (schema !== null && !isSchema(schema)) return usage(`the schema of ${module} is no Standard Schema`, options);
  const editor = { edit: edit as Editor["edit"], schema };
  return atPlace(file, options, async (place) => editAt(place, options, editor));
}

async function editAt(place: Place, options: EditOptions, editor: Editor): Promise<number> {
  const { queue, operating } = place;
  const { confirm, json } = options;
  if (confirm === undefined) {
    const { plan, sample } = await planned(place, options, editor);
    const shown = sample.flatMap(({ id, differences }) => [id, ...differences.map((line) => `  ${line}`)]);
    return print(json === true ? { ...plan, sample } : [...shown, renderTaking(plan, doing)].join("\n"));
  }
  return withLocks(place, options, async () => {
    const digests: bigint[] = [];
    const { plan, rules } = await planned(place, options, editor, (letter, fate) => {
      if (fate === "sent") digests.push(digestOf(operating.identityOf(letter)));
    });
    const problem = confirmProblem(queue, plan.letters, confirm);
    if (problem !== null) throw refused([problem]);
    const word = wordOf(options);
    return withBackup(options.backup ?? null, place, async (backup) => {
      const sending = sendingOf(place, rules, word, (letter, facts) => editOne(options.with, editor, letter, facts));
      const decide = (letter: Letter): Sending | null => {
        const sent = sending.decide(letter);
        return sent === null ? null : { ...sent, save: async () => backup?.save(letter) };
      };
      const frozen = readFrozen(writeFrozen(digests));
      const { stopped, ...others } = await runTaking(place, { ...plan, frozen, decide });
      const taken = { ...others, stopped: sending.failure() ?? stopped };
      return answerTaken(options, { ...word, plan, ...taken }, renderTaken(plan, doing, taken), taken);
    });
  });
}

/** Calls the function for all chosen letters, and counts those that it changes. */
async function planned(place: Place, options: EditOptions, editor: Editor, judged?: Parameters<typeof planRedrive>[5]) {
  const { queue, contract, operating, letters: dead, factsOf, generations = 3 } = place;
  const unreachable = contract === undefined ? null : operating.unreachable(contract);
  if (unreachable !== null) throw new UsageError(unreachable);
  const workQueue = contract?.workQueue ?? null;
  const targets = workQueue === null ? null : new Set([workQueue]);
  const filter = filterOf(options);
  const sample: { readonly id: string; readonly differences: readonly string[] }[] = [];
  const matches = (letter: Letter, facts: LetterFacts): boolean => {
    const changed = filter.matches(letter, facts) ? editOne(options.with, editor, letter, facts) : null;
    if (changed === null) return false;
    if (sample.length < mostShown) sample.push({ id: nameOf(facts), differences: differencesBetween(letter, changed) });
    return true;
  };
  const { unsendable } = operating;
  const asked = { generations: options.generations ?? generations, targets, workQueue, unsendable };
  const rules = { ...asked, filter: { ...filter, matches } };
  const made = await planRedrive(dead, queue, rules, factsOf, { perSecond: null, waitMs: 0 }, judged);
  if ("problem" in made) throw refused([made.problem]);
  return { plan: made.plan, rules: { ...made.rules, filter }, sample };
}

/** The way of each chosen letter. After a failure of the function all others stay. */
function sendingOf(place: Place, rules: RedriveRules, { id: redrive, by, why }: Word, edited: EditsOne) {
  let failure: string | null = null;
  const decide = (letter: Letter): Sending | null => {
    const facts = place.factsOf(letter);
    const target = targetOf(facts, rules);
    if (failure !== null || target === null || fateOf(letter, facts, rules) !== "sent") return null;
    try {
      const changed = edited(letter, facts);
      if (changed === null) return null;
      const { reason, routingKey, position, messageId } = facts;
      const at = new Date().toISOString();
      const added = { redrive, at, reason, routingKey, position, did: "edited", by, why, messageId } as const;
      return { queue: target, history: historyWith(letter, added), edited: changed };
    } catch (cause) {
      // The function did well for every letter a moment ago, so it is none that gives the same each time.
      failure = (cause as Error).message;
      return null;
    }
  };
  return { decide, failure: () => failure };
}

type EditsOne = (letter: Letter, facts: LetterFacts) => Letter | null;

/** @throws RefusedError with the name of the letter */
export function editOne(file: string, editor: Editor, letter: Letter, facts: LetterFacts): Letter | null {
  const name = nameOf(facts);
  tell({ kind: "importing", file, letter: name });
  try {
    return editLetter(letter, facts, editor);
  } catch (cause) {
    const message = `${name}: ${reasonOf(cause).replace(/^EditError: /, "")}`;
    const help = "correct the function, or leave this letter out with a filter";
    throw refused([diagnostic("RD814", { path: "with", message, help })]);
  } finally {
    tell({ kind: "imported" });
  }
}

function nameOf({ messageId, position }: LetterFacts): string {
  return messageId ?? `the letter ${position}`;
}
