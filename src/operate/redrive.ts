import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { LetterFacts } from "./facts.ts";
import type { Filter } from "./filter.ts";
import { historyOf, historyWith } from "./history.ts";
import type { Letter } from "./letter.ts";
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
  readonly unsendable: Operating["unsendable"];
}

/** The queue that a letter goes to: the work queue that it died in, never an exchange with other subscribers. */
export function targetOf({ queue }: LetterFacts, { workQueue }: Pick<RedriveRules, "workQueue">): string | null {
  return queue ?? workQueue;
}

/** Decides whether a redrive may send a letter. */
export function fateOf(letter: Letter, facts: LetterFacts, rules: RedriveRules): Fate {
  const target = targetOf(facts, rules);
  if (!rules.filter.matches(letter, facts)) return "not chosen";
  if (facts.generation >= rules.generations) return "sent too often";
  const unsendable = rules.unsendable(letter);
  if (unsendable !== null) return unsendable;
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

export interface RedriveInput {
  readonly id: string;
  readonly queue: string;
  /** The letters that were in the queue when the plan was made. Later ones are not touched. */
  readonly frozen: number;
  /** The letters to send. */
  readonly letters: number;
  readonly perSecond: number | null;
  /** The wait after each step, before the look for letters that died again. 0 for no look. */
  readonly waitMs: number;
  /** The share of sent letters that may have died again, from 0 to 1. */
  readonly stopAbove: number;
  readonly rules: RedriveRules;
  readonly factsOf: (letter: Letter) => LetterFacts;
  readonly pause: (delayMs: number) => Promise<void>;
  readonly report: (sent: number, diedAgain: number) => void;
}

export interface RedriveResult {
  readonly sent: number;
  readonly diedAgain: number;
  /** The most letters that may have been sent twice. */
  readonly mayBeDoubled: number;
  /** Why it ended before the last letter. Null if it did not. */
  readonly stopped: string | null;
}

/** How often a lost connection is made again, and the pause before. */
const mostLosses = 10;
const afterLossMs = 3_000;

/** Sends letters in growing steps, and stops by itself if too many die again. It survives lost connections. */
export async function redrive(dead: DeadLetters, input: RedriveInput): Promise<RedriveResult> {
  const result = { sent: 0, diedAgain: 0, mayBeDoubled: 0, stopped: null as string | null };
  let losses = 0;
  /** Null if the connection was lost. */
  const surviving = async <Value extends object>(work: () => Promise<Value>): Promise<Value | null> => {
    try {
      const value = await work();
      if (!("isLost" in value) || value.isLost !== true) return value;
      losses += 1;
      return value;
    } catch (cause) {
      if (!(cause instanceof RefusedError) || cause.diagnostics.some(({ code }) => code === "RD805")) throw cause;
      losses += 1;
      return null;
    } finally {
      if (losses > mostLosses) result.stopped ??= "the connection was lost too often";
    }
  };
  for (const step of stepsOf(input.letters, input.waitMs)) {
    const until = result.sent + step;
    while (result.sent < until && result.stopped === null) {
      const passed = await surviving(() => dead.move(input.queue, passOf(input, result.sent, until)));
      result.sent += passed?.sent ?? 0;
      result.mayBeDoubled += passed?.mayBeDoubled ?? 0;
      result.stopped ??= passed?.stopped ?? null;
      input.report(result.sent, result.diedAgain);
      if (passed === null || passed.isLost) await input.pause(afterLossMs);
      else if (passed.sent === 0) result.stopped ??= "the other letters of the plan are not there any more";
    }
    if (result.stopped !== null) break;
    if (input.waitMs > 0) await input.pause(input.waitMs);
    for (let seen: Looked | null = null; seen === null && input.waitMs > 0 && losses <= mostLosses;) {
      let count = 0;
      seen = await surviving(() => lookForDeaths(dead, input, () => (count += 1)));
      if (seen === null) await input.pause(afterLossMs);
      else result.diedAgain = count;
    }
    const isTooMany = result.diedAgain > input.stopAbove * result.sent;
    if (isTooMany) result.stopped ??= `${result.diedAgain} of ${result.sent} letters have died again`;
    if (result.stopped !== null) break;
  }
  return result;
}

function passOf(input: RedriveInput, sent: number, until: number): Pass {
  const { perSecond, frozen } = input;
  const most = perSecond === null ? Infinity : Math.max(1, Math.floor((perSecond * longestPassMs) / 1_000));
  return { frozen: frozen - sent, most: Math.min(most, until - sent), perSecond, decide: deciderOf(input) };
}

function deciderOf({ id, rules, factsOf }: RedriveInput): (letter: Letter) => Sending | null {
  return (letter) => {
    const facts = factsOf(letter);
    const target = targetOf(facts, rules);
    if (facts.redrive === id || target === null || fateOf(letter, facts, rules) !== "sent") return null;
    const { reason, routingKey, position } = facts;
    const added = { redrive: id, at: new Date().toISOString(), reason, routingKey, position };
    return { queue: target, history: historyWith(letter, added) };
  };
}

/** Calls back for each letter of this redrive in the dead queue. */
async function lookForDeaths(dead: DeadLetters, { queue, id }: RedriveInput, found: () => void): Promise<Looked> {
  return dead.look(queue, (letter) => {
    if (historyOf(letter)[0]?.redrive === id) found();
    return true;
  });
}
