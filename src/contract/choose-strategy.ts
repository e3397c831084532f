import type { ConsumerPlan, RetryPlan } from "../plan/plan.ts";
import { count } from "./in-words.ts";

/** The strategy that a consumer got, and the reasons against the others. */
export interface StrategyChoice<Strategy extends string = string> {
  /** The consumer that the choice is for. */
  readonly consumer: string;
  /** The strategy that the broker runs. */
  readonly strategy: Strategy;
  /** Why it was taken, with the number of its queues. */
  readonly reason: string;
  /** The strategies before it in the order of `auto`, each with the demand that it cannot keep. */
  readonly passedOver: readonly {
    readonly strategy: Strategy;
    /** The demand of the declaration that it cannot keep. */
    readonly reason: string;
  }[];
}

/** A reason why a strategy cannot keep the declaration. */
export interface Objection {
  /** A fact about the declaration and the strategy, with numbers. */
  readonly reason: string;
  /** The field that asks for it, below the consumer. */
  readonly path: readonly string[];
  /** The change of the declaration that removes the objection, if there is one. */
  readonly edit?: string;
}

/** The objections against each strategy that `auto` tries, in its order, and against the one that the target names. */
export type Objections<Name extends string> = ReadonlyMap<Name, readonly Objection[]>;

/** @param isKept true if there is nothing to object to */
export function unless(isKept: boolean, reason: string, path: readonly string[] = []): Objection[] {
  return isKept ? [] : [{ reason, path }];
}

/**
 * A strategy with one delay for all messages cannot choose it for a message.
 *
 * @param because the reason for the one delay
 */
export function oneDelayObjections({ jitterPercent, retryAfterMaxMs }: RetryPlan, because: string): Objection[] {
  return [
    ...unless(jitterPercent === 0, `${jitterPercent}% jitter: ${because}`, ["retry", "backoff", "jitter"]),
    ...unless(retryAfterMaxMs === null, `a delay that the handler chooses: ${because}`, ["retry", "retryAfter"]),
  ];
}

/**
 * If a broker counts attempts and crashes together, both need the same number.
 *
 * @param counter the counter as a sentence names it
 */
export function sharedCounterObjection(
  { attempts, crashDeclared, crashDeliveries }: RetryPlan,
  counter: string,
): Objection[] {
  if (!crashDeclared || crashDeliveries === attempts.length) return [];
  return [
    {
      reason: `attempts (${attempts.length}) and crash deliveries (${crashDeliveries}) share ${counter}`,
      path: ["crash", "deliveries"],
      edit: `set crash.deliveries to ${attempts.length}, or leave crash out,`,
    },
  ];
}

/** A strategy on one broker, as the choice sees it. */
export interface Candidate<Name extends string, Input> {
  readonly name: Name;
  /** The strategy in one sentence, for the reason of a choice. */
  readonly summary: string;
  /** False if `auto` may not choose it. */
  readonly isAutomatic?: boolean;
  /** The demands of the declaration that it cannot keep. Empty if it keeps everything. */
  readonly objections: (input: Input) => readonly Objection[];
  /**
   * The number of queues of a system with this consumer alone. It is counted for each choice, so it builds nothing. Left
   * out where all strategies need as many.
   */
  readonly queues?: (input: Input) => number;
}

/** The strategy that a consumer gets, with the reasons. Or all objections against each strategy. */
export type Chosen<Strategy, Name extends string> =
  | { readonly strategy: Strategy; readonly choice: StrategyChoice<Name> }
  | { readonly objections: Objections<Name> };

const byName = "asked for by name";

/** The choice of a strategy that a lock keeps: only the command asked for it by name. */
export function keptByLock<Choice extends StrategyChoice>(choice: Choice): Choice {
  return { ...choice, reason: choice.reason.replace(byName, "the lock keeps it") };
}

/** The strategy asked for by name, or the first that keeps everything. */
export function chooseStrategy<Name extends string, Input, Strategy extends Candidate<Name, Input>>(
  strategies: readonly (Strategy & Candidate<Name, Input>)[],
  wanted: Name | "auto",
  input: Input & { readonly plan: ConsumerPlan },
): Chosen<Strategy, Name> {
  const passedOver: { strategy: Name; reason: string }[] = [];
  for (const [index, strategy] of strategies.entries()) {
    if (wanted === "auto" ? strategy.isAutomatic === false : strategy.name !== wanted) continue;
    const objections = strategy.objections(input);
    if (objections.length === 0) {
      const keeps = (each: Candidate<Name, Input>): boolean =>
        each.isAutomatic !== false && each.objections(input).length === 0;
      const next = wanted === "auto" ? strategies.slice(index + 1).find(keeps) : undefined;
      const cost = next === undefined ? "" : inQueues(strategy.queues?.(input), next.queues?.(input), next.name);
      const reason = wanted === "auto" ? `${strategy.summary}${cost}` : `${byName}: ${strategy.summary}`;
      return { strategy, choice: { consumer: input.plan.consumer, strategy: strategy.name, reason, passedOver } };
    }
    passedOver.push({ strategy: strategy.name, reason: objections.map((each) => each.reason).join("; ") });
  }
  const tried = strategies.filter(({ name, isAutomatic }) => isAutomatic !== false || name === wanted);
  return { objections: new Map(tried.map((strategy) => [strategy.name, strategy.objections(input)])) };
}

function inQueues(chosen: number | undefined, under: number | undefined, next: string): string {
  if (chosen === undefined || under === undefined || chosen === under) return "";
  return `; a system with this consumer alone has ${count(chosen, "queue")}, under ${next} ${under}`;
}
