import { deepFreeze } from "../declare/freeze.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ConsumerPlan } from "../plan/plan.ts";
import type { KeptPromise, Objection, StrategyChoice } from "./broker.ts";

/** What the choice needs to know of a way to retry on one broker. */
interface Candidate<Name extends string, Input> {
  readonly name: Name;
  /** What it is, in one sentence, for the reason of a choice. */
  readonly summary: string;
  /** False where `auto` may not choose it. */
  readonly isAutomatic?: boolean;
  /** What in the declaration it cannot keep; empty where it keeps everything. */
  readonly objections: (input: Input) => readonly Objection[];
}

/** The strategy that a consumer gets, with the reasons; or all that is against each of them. */
export type Chosen<Strategy, Name extends string> =
  | { readonly strategy: Strategy; readonly choice: StrategyChoice<Name> }
  | { readonly objections: ReadonlyMap<Name, readonly Objection[]> };

/** The strategy asked for by name, or the first that keeps everything. */
export function chooseStrategy<Name extends string, Input, Strategy extends Candidate<Name, Input>>(
  strategies: readonly (Strategy & Candidate<Name, Input>)[],
  wanted: Name | "auto",
  input: Input & { readonly plan: ConsumerPlan },
): Chosen<Strategy, Name> {
  const passedOver: { strategy: Name; reason: string }[] = [];
  for (const strategy of strategies) {
    if (wanted === "auto" ? strategy.isAutomatic === false : strategy.name !== wanted) continue;
    const objections = strategy.objections(input);
    if (objections.length === 0) {
      const reason = wanted === "auto" ? strategy.summary : `asked for by name: ${strategy.summary}`;
      return { strategy, choice: { consumer: input.plan.consumer, strategy: strategy.name, reason, passedOver } };
    }
    passedOver.push({ strategy: strategy.name, reason: objections.map((each) => each.reason).join("; ") });
  }
  return { objections: new Map(strategies.map((strategy) => [strategy.name, strategy.objections(input)])) };
}

/** What a consumer comes to. Its resources are added to the topology's draft meanwhile. */
export interface CompiledConsumer<Contract, Name extends string> {
  readonly diagnostics: readonly Diagnostic[];
  /** Null where it is refused. */
  readonly result: {
    readonly contract: Contract;
    readonly promises: readonly KeptPromise[];
    readonly choice: StrategyChoice<Name>;
  } | null;
}

/** What all consumers come to, in their order. */
export interface CompiledConsumers<Contract, Name extends string> {
  readonly diagnostics: readonly Diagnostic[];
  readonly contracts: readonly Contract[];
  readonly promises: readonly KeptPromise[];
  readonly choices: readonly StrategyChoice<Name>[];
}

export function compileConsumers<Contract, Name extends string>(
  consumers: readonly ConsumerPlan[],
  compile: (consumer: ConsumerPlan) => CompiledConsumer<Contract, Name>,
): CompiledConsumers<Contract, Name> {
  const compiled = consumers.map(compile);
  const results = compiled.flatMap(({ result }) => (result === null ? [] : [result]));
  return deepFreeze({
    diagnostics: compiled.flatMap(({ diagnostics }) => diagnostics),
    contracts: results.map(({ contract }) => contract),
    promises: results.flatMap(({ promises }) => promises),
    choices: results.map(({ choice }) => choice),
  });
}
