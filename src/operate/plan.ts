import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import type { LetterFacts } from "./facts.ts";
import type { Letter } from "./letter.ts";
import type { DeadLetters } from "./port.ts";
import { type Fate, type RedriveRules, fateOf, stepsOf, targetOf } from "./redrive.ts";

/** What a redrive would do now. */
export interface RedrivePlan {
  /** The dead queue that the letters leave. */
  readonly queue: string;
  /** The letters in the queue. The redrive touches no later ones. */
  readonly frozen: number;
  /** The letters to send, which is the number to confirm. */
  readonly letters: number;
  /** Letters behind those in their message groups, which the broker counts and does not show. Some may stay. */
  readonly behind: number;
  /** The work queues that the letters go to. */
  readonly targets: readonly {
    /** The name of the work queue. */
    readonly queue: string;
    /** The letters that go there. */
    readonly letters: number;
    /** The consumers that the broker sees on the target now. */
    readonly consumers: number | "unknown";
  }[];
  /** Letters that stay, by the reason. */
  readonly stay: Readonly<Partial<Record<Fate | "queue gone", number>>>;
  /** The number of letters of each step. After each the redrive waits, and looks for letters that died again. */
  readonly steps: readonly number[];
  /** The time for sending and waiting. Null without a rate. */
  readonly leastMs: number | null;
}

/** The speed of a redrive. */
export interface Speed {
  readonly perSecond: number | null;
  readonly waitMs: number;
}

/**
 * Counts how many letters go where. It moves nothing.
 *
 * @param judged called with each letter. Some of those to send may turn out to have no queue
 * @returns the plan, and the rules for the redrive by it; or the reason why the queue is no dead queue
 */
export async function planRedrive(
  dead: DeadLetters,
  queue: string,
  rules: RedriveRules,
  factsOf: (letter: Letter) => LetterFacts,
  { perSecond, waitMs }: Speed,
  judged?: (letter: Letter, fate: Fate) => void,
): Promise<
  | {
      readonly plan: RedrivePlan;
      readonly rules: RedriveRules;
      readonly isWhole: boolean;
      /** The queues that the letters to send name, and null for those that name none. */
      readonly named: ReadonlySet<string | null>;
    }
  | { readonly problem: Diagnostic }
> {
  const stay = new Map<Fate | "queue gone", number>();
  const found = new Map<string, number>();
  const named = new Set<string | null>();
  const looked = await dead.look(queue, (letter) => {
    const facts = factsOf(letter);
    const fate = fateOf(letter, facts, rules);
    if (fate === "sent") {
      add(found, targetOf(facts, rules) ?? "", 1);
      named.add(facts.queue);
    } else add(stay, fate, 1);
    judged?.(letter, fate);
    return true;
  });
  const problem = consumedProblem(queue, looked.consumers) ?? (found.has(queue) ? workQueueProblem(queue) : null);
  if (problem !== null) return { problem };
  const targets: RedrivePlan["targets"][number][] = [];
  for (const [target, letters] of found) {
    const consumers = await dead.consumersOf(target);
    if (consumers === null) add(stay, "queue gone", letters);
    else targets.push({ queue: target, letters, consumers });
  }
  const letters = targets.reduce((sum, target) => sum + target.letters, 0);
  const steps = stepsOf(letters, waitMs);
  const leastMs = perSecond === null ? null : Math.ceil((1_000 * letters) / perSecond) + waitMs * steps.length;
  const { ready: frozen, behind = 0 } = looked;
  const plan = { queue, frozen, letters, behind, targets, stay: Object.fromEntries(stay), steps, leastMs };
  const there = targets.map((target) => target.queue);
  // Letters that the broker does not show yet may be the only ones for a declared queue.
  const declared = [...(rules.targets ?? [])].filter((each) => !found.has(each));
  return { plan, rules: { ...rules, targets: new Set([...there, ...declared]) }, isWhole: looked.isWhole, named };
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Letters that died in the queue that they are in would be sent to it again. */
function workQueueProblem(queue: string): Diagnostic {
  return diagnostic("RD812", {
    path: "queue",
    message: `messages of ${queue} died in it and came back, so it is a work queue and no dead queue`,
    help: "name the dead queue of the consumer",
  });
}

/** A queue with consumers holds messages that are being worked on. */
export function consumedProblem(queue: string, consumers: number): Diagnostic | null {
  if (consumers === 0) return null;
  return diagnostic("RD812", {
    path: "queue",
    message: `the queue ${queue} has ${consumers} ${consumers === 1 ? "consumer" : "consumers"}, so it is no dead queue, or somebody else works on its letters`,
    help: "name the dead queue, or end the program that consumes it",
  });
}

/**
 * The letters that a person agrees to: those of the plan, or also those behind them.
 *
 * @param parked the letters of the plan that are parked
 */
export function agreedLetters(
  { queue, letters, behind }: RedrivePlan,
  parked: number,
  confirmed: number,
): { readonly letters: number; readonly behind: number } | { readonly problem: Diagnostic } {
  if (confirmed === letters + parked + behind) return { letters: letters + behind, behind };
  const problem = confirmProblem(queue, letters + parked, confirmed);
  return problem === null ? { letters, behind: 0 } : { problem };
}

/** @returns null if the count is that of the plan */
export function confirmProblem(queue: string, planned: number, confirmed: number): Diagnostic | null {
  if (planned === confirmed) return null;
  return diagnostic("RD811", {
    path: "confirm",
    message: `${confirmed} letters are confirmed, but ${planned} letters of ${queue} would be sent`,
    help: `look at the plan again; --confirm ${planned} agrees to the present one`,
  });
}
