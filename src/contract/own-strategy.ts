import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import { wordOf } from "../diagnostics/word-of.ts";
import type { Plan } from "../plan/plan.ts";
import { misfit, unknownOption } from "./shared-problems.ts";

/** The part of a target that names strategies. */
export interface Strategies<Name extends string = string> {
  readonly strategy: "auto" | Name;
  /** By consumer: its own strategy. */
  readonly strategies?: Readonly<Record<string, "auto" | Name>> | undefined;
}

/** Consumers that keep the settings of one target beside others that have those of another. */
export interface TargetSide<Target> {
  readonly target: Target;
  /** By the name of a consumer beside the others: the one that its own target knows. */
  readonly names: ReadonlyMap<string, string>;
}

const path = ["target", "strategies"] as const;

/** The target with the consumer's own strategy, and without those of others. */
export function withOwnStrategy<Target extends Strategies>(target: Target, consumer: string): Target {
  const { strategies, ...rest } = target;
  if (strategies === undefined) return target;
  const strategy = Object.hasOwn(strategies, consumer) ? strategies[consumer] : target.strategy;
  return Object.freeze({ ...rest, strategy }) as Target;
}

/** The target with the strategies of single consumers under other names. */
export function strategiesUnder<Target extends Strategies>(
  target: Target,
  nameOf: (consumer: string) => string,
): Target {
  const { strategies } = target;
  if (strategies === undefined) return target;
  const named = Object.entries(strategies).map(([consumer, strategy]) => [nameOf(consumer), strategy] as const);
  return Object.freeze({ ...target, strategies: Object.fromEntries(named) });
}

/**
 * Checks the strategies of single consumers as a person wrote them.
 *
 * @param broker the broker's name for a sentence
 */
export function diagnoseStrategies(broker: string, given: unknown, known: readonly string[]): Diagnostic[] {
  if (given === undefined) return [];
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const help = `write it as a mapping, for example strategies: { billing: ${known[0]} }`;
    return [misfit(path, given, "this is not a mapping of consumers to strategies", help)];
  }
  const words = ["auto", ...known];
  return Object.entries(given).flatMap(([consumer, strategy]: readonly [string, unknown]) =>
    words.includes(strategy as string)
      ? []
      : diagnosed("RD201", {
          path: [...path, consumer],
          message: `${JSON.stringify(wordOf(strategy))} is no strategy of ${broker}`,
          value: strategy,
          notes: [`there are ${words.join(", ")}`],
          help: nearest(strategy, words) ?? `write one of ${words.join(", ")}`,
        }),
  );
}

/** Finds strategies of consumers that the declaration does not have, or that have no work queue. */
export function diagnoseOwners(plan: Plan, { strategies = {} }: Strategies): Diagnostic[] {
  return unknownOwners(plan, path, strategies);
}

/** Finds settings by consumer for consumers that the declaration does not have, or that have no work queue. */
export function unknownOwners({ consumers }: Plan, place: readonly string[], settings: object): Diagnostic[] {
  const retried = consumers.flatMap(({ consumer, retry }) => (retry === null ? [] : [consumer]));
  return Object.keys(settings).flatMap((name) =>
    retried.includes(name) ? [] : [unknownOption([...place, name], "consumer with a work queue", name, retried)],
  );
}
