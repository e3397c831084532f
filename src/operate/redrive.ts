import { countDeaths, lettersIn } from "./deaths.ts";
import type { LetterFacts } from "./facts.ts";
import type { Filter } from "./filter.ts";
import { type Frozen, type Marks, digestOf, takeLetter } from "./frozen.ts";
import { historyOf, historyWith } from "./history.ts";
import type { RedriveCounts, RedriveFacts, Wish } from "./journal.ts";
import type { Letter } from "./letter.ts";
import { type Losses, createLosses } from "./losses.ts";
import type { DeadLetters, Looked, Operating, Pass, Sending, Unsendable } from "./port.ts";

/** Why a letter stays, or `sent`. */
export type Fate = "sent" | "not chosen" | "sent too often" | "from another queue" | Unsendable;

export interface RedriveRules {
  readonly filter: Filter;
  /** A letter that was sent again so often stays. */
  readonly generations: number;
  /** The only queues to send to. Null for any queue that a letter died in. */
  readonly targets: ReadonlySet<string> | null;
  /** The queue for letters that do not name the queue they died in. Null if there is none. */
  readonly workQueue: string | null;
  /** Null, or the queues of other consumers: then letters that name any other queue go to the work queue, too. */
  readonly others: ReadonlySet<string> | null;
  readonly unsendable: Operating["unsendable"];
}

/** The queue that a letter goes to: the work queue that it died in, never an exchange with other subscribers. */
export function targetOf(
  { queue }: LetterFacts,
  { workQueue, others }: Pick<RedriveRules, "workQueue" | "others">,
): string | null {
  return queue === null || others?.has(queue) === false ? workQueue : queue;
}

/** Decides whether a redrive may send a letter. */
export function fateOf(letter: Letter, facts: LetterFacts, rules: RedriveRules): Fate {
  const target = targetOf(facts, rules);
  if (!rules.filter.matches(letter, facts)) return "not chosen";
  const unsendable = rules.unsendable(letter);
  if (unsendable !== null) return unsendable;
  if (facts.generation >= rules.generations) return "sent too often";
  return target === null || rules.targets?.has(target) === false ? "from another queue" : "sent";
}

/** The copies of a step: 1, 10, 100, … Without a wait nothing is looked for, so there is one step. */
export function stepsOf(letters: number, waitMs: number): readonly number[] {
  if (waitMs === 0) return letters === 0 ? [] : [letters];
  const steps: number[] = [];
  for (let left = letters, step = 1; left > 0; left -= step, step *= 10) steps.push(Math.min(step, left));
  return steps;
}

/** The longest pass. The broker ends a consumer that holds letters for half an hour. */
const longestPassMs = 600_000;

export interface RedriveInput
  extends Marks, Pick<RedriveFacts, "id" | "queue" | "behind" | "perSecond" | "waitMs" | "stopAbove"> {
  /** The queue that letters die into again. It differs from the queue of parked letters. */
  readonly deadQueue: string;
  /** All letters of the plan. */
  readonly letters: number;
  /** The letters of the plan that it may still send. It touches no others. */
  readonly frozen: Frozen;
  /** The numbers before it began. They are not zero if it goes on. */
  readonly before: RedriveCounts;
  /** The letters that it may have sent before without a record, because its process ended. */
  readonly unrecorded: number;
  readonly rules: RedriveRules;
  readonly factsOf: (letter: Letter) => LetterFacts;
  /** Ends early if somebody wants the redrive to end. */
  readonly pause: (delayMs: number) => Promise<void>;
  /** The letters of this redrive with a consumer's word about their end, and those that are dead by it. */
  readonly told: () => Promise<{ readonly told: number; readonly dead: number }>;
  /** The end that somebody wants. It is asked before each letter. */
  readonly wish: () => Wish | null;
  /** Called before a step, with the number of letters up to which it may send. Returns why it may not, or null. */
  readonly intend: (until: number, counts: RedriveCounts) => Promise<string | null>;
  readonly report: (counts: RedriveCounts) => void;
}

export interface RedriveResult extends RedriveCounts {
  /** Letters of the plan that are not there any more, and were sent before its process ended. */
  readonly unrecorded: number;
  /** Why it stopped, before or after the last letter. Null if it did not. */
  readonly stopped: string | null;
}

/** The time between two questions for the words of consumers. */
const askEveryMs = 500;

interface Running {
  readonly dead: DeadLetters;
  readonly input: RedriveInput;
  frozen: Frozen;
  sent: number;
  diedAgain: number;
  mayBeDoubled: number;
  unrecorded: number;
  stopped: string | null;
  readonly losses: Losses;
  /** The letters in the dead queue when it began. Null if looks show all of them. */
  there: number | null;
}

/** Sends letters in growing steps, and stops by itself if too many die again. It survives lost connections. */
export async function redrive(dead: DeadLetters, input: RedriveInput): Promise<RedriveResult> {
  const { before, letters } = input;
  const run: Running = {
    ...before,
    dead,
    input,
    frozen: input.frozen,
    unrecorded: 0,
    stopped: null,
    losses: createLosses(input.pause, () => wished(input)),
    there: null,
  };
  if (input.waitMs > 0) run.there = (await surely(run, () => lettersIn(dead, input.deadQueue)))?.letters ?? null;
  for (const step of stepsOf(letters - before.sent, input.waitMs)) {
    const until = run.sent + step;
    run.stopped ??= await input.intend(until, run);
    while (run.sent < until && run.stopped === null && run.unrecorded === 0) await sendUntil(run, until);
    if (run.stopped === null && input.waitMs > 0) await checkDeaths(run);
    if (run.stopped !== null || run.unrecorded > 0) break;
  }
  const { sent, diedAgain, mayBeDoubled, unrecorded, stopped } = run;
  return { sent, diedAgain, mayBeDoubled, unrecorded, stopped };
}

async function sendUntil(run: Running, until: number): Promise<void> {
  const { dead, input } = run;
  const sentBefore = run.sent;
  const { pass, lost } = passOf(run, until);
  const passed = await run.losses.surviving(() => dead.move(input.queue, pass));
  // If the pass threw, `onSent` has counted.
  if (passed !== null) run.sent = sentBefore + passed.sent;
  run.mayBeDoubled += passed?.mayBeDoubled ?? 0;
  run.stopped ??= passed?.stopped ?? run.losses.gaveUp();
  input.report(run);
  if (passed === null || passed.isLost) {
    lost();
    const present = await presentAfterLoss(dead, run.losses, { ...input, frozen: run.frozen });
    // A letter with an unknown outcome counts as sent only if it is gone.
    if (present === null) run.sent = Math.max(sentBefore, run.sent - (passed?.mayBeDoubled ?? 0));
    else run.sent = Math.min(run.sent, input.letters - present);
    run.stopped ??= run.losses.gaveUp();
  } else if (passed.sent === 0 && run.stopped === null) {
    const missing = input.letters - run.sent;
    if (missing <= input.unrecorded) run.unrecorded = missing;
    else run.stopped = missing <= (input.behind ?? 0) ? othersStay : othersGone;
  }
  run.stopped ??= wished(input);
}

const othersGone = "the other letters of the plan are not there any more";
const othersStay = "the others have to stay, do not fit the filter, or are behind letters that stay";

const wished = ({ wish }: RedriveInput): string | null => (wish() === null ? null : "somebody wants it to end");

/**
 * Counts the letters of a plan that are in their queue after a lost connection. Letters that count as sent may be back.
 *
 * @returns null if it cannot be learned
 */
export async function presentAfterLoss(
  dead: DeadLetters,
  losses: Losses,
  input: Parameters<typeof findOut>[1],
): Promise<number | null> {
  let stood: Stood | null = null;
  do {
    stood = await losses.surviving(async () => {
      await dead.settle?.(input.queue);
      return findOut(dead, input);
    });
  } while (stood === null && losses.gaveUp() === null);
  return stood?.looked.isWhole === true ? stood.present : null;
}

/**
 * Waits, but no longer than until consumers have told the end of every letter.
 *
 * @returns the letters that consumers call dead. Some may not be in the dead queue yet
 */
async function waitForEnds({ input, sent }: Running, untilMs: number): Promise<number> {
  for (;;) {
    const { told, dead } = await input.told();
    // The words may be about letters that a killed process had no time to count.
    const isTold = told >= sent && input.unrecorded === 0;
    if (isTold || performance.now() >= untilMs || wished(input) !== null) return dead;
    await input.pause(Math.min(untilMs - performance.now(), askEveryMs));
  }
}

/** @returns null if the connection is lost again and again */
async function surely<Result extends object>({ losses }: Running, work: () => Promise<Result>): Promise<Result | null> {
  let result: Result | null = null;
  while (result === null && losses.gaveUp() === null) result = await losses.surviving(work);
  return result;
}

async function checkDeaths(run: Running): Promise<void> {
  const { dead, input } = run;
  const { before } = input;
  const untilMs = performance.now() + input.waitMs;
  const awaited = await waitForEnds(run, untilMs);
  run.stopped ??= wished(input);
  let cause = "";
  for (;;) {
    const died = await surely(run, () => countDeaths(dead, { ...input, ...run }));
    if (died !== null) [run.diedAgain, cause] = [died.letters, died.cause];
    if (died === null || run.diedAgain >= awaited || performance.now() >= untilMs || wished(input) !== null) break;
    await input.pause(askEveryMs);
  }
  run.stopped ??= run.losses.gaveUp();
  const [died, sent] = [run.diedAgain - before.diedAgain, run.sent - before.sent];
  if (died > input.stopAbove * sent) run.stopped ??= `${died} of ${sent} letters have died again${cause}`;
}

/** A pass, and a function that puts back the letters with an unknown outcome after a lost connection. */
function passOf(run: Running, until: number): { readonly pass: Pass; readonly lost: () => void } {
  const { input, frozen, sent: sentBefore } = run;
  const { perSecond, id, rules, factsOf, identityOf } = input;
  const most = perSecond === null ? Infinity : Math.max(1, Math.floor((perSecond * longestPassMs) / 1_000));
  /** The letters that a later pass may send if this one loses its connection. */
  const after = frozen.copy();
  const decide = (letter: Letter): Sending | null => {
    const facts = factsOf(letter);
    const target = targetOf(facts, rules);
    if (facts.redrive === id || target === null || fateOf(letter, facts, rules) !== "sent") return null;
    if (!takeLetter(frozen, letter, input)) return null;
    const { reason, routingKey, position } = facts;
    const [at, digest] = [new Date().toISOString(), digestOf(identityOf(letter)).toString(16)];
    const added = { redrive: id, at, reason, routingKey, position, letter: digest };
    return { queue: target, history: historyWith(letter, added) };
  };
  const onSent = (letter: Letter, isGone: boolean): void => {
    if (isGone) takeLetter(after, letter, input);
    run.sent += 1;
    input.report(run);
  };
  const pass = { most: Math.min(most, until - sentBefore), perSecond, decide, onSent, stopped: () => wished(input) };
  return { pass, lost: () => (run.frozen = after) };
}

/** The place where a redrive stood, as the dead queue shows it. */
export interface Stood {
  readonly looked: Looked;
  /** The letters of the plan that are still there. */
  readonly present: number;
  readonly diedAgain: number;
}

/**
 * Finds out where a redrive stood. Letters that died again by it leave the plan, even if the dead queue has them a
 * second time because an acknowledgement was lost.
 */
export async function findOut(
  dead: DeadLetters,
  { queue, id, frozen, ...marks }: Pick<RedriveInput, "queue" | "id" | "frozen"> & Marks,
): Promise<Stood> {
  const missing = frozen.copy();
  const died: bigint[] = [];
  let [present, diedAgain] = [0, 0];
  const looked = await dead.look(queue, (letter) => {
    const [last] = historyOf(letter);
    if (last?.redrive === id) {
      diedAgain += 1;
      if (/^[\da-f]{1,16}$/.test(last.letter ?? "")) died.push(BigInt(`0x${last.letter}`));
    } else if (takeLetter(missing, letter, marks)) present += 1;
    return true;
  });
  for (const digest of died) {
    // The first look at it counted it as present.
    if (frozen.take(digest) && !missing.take(digest)) present -= 1;
  }
  return { looked, present, diedAgain };
}
