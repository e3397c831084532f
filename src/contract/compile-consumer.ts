import { deepFreeze } from "../declare/freeze.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ConsumerPlan } from "../plan/plan.ts";
import type { StrategyChoice } from "./choose-strategy.ts";
import { type KeptPromise, type Promises, promisesOf } from "./promise.ts";

/** Collects the resources of a topology while the compiler goes from consumer to consumer. */
export type Draft<Topology, List extends keyof Topology> = {
  readonly [Key in List]: Topology[Key] extends readonly (infer Resource)[] ? Resource[] : never;
};

/** The result for one consumer. Compiling it also adds its resources to the topology's draft. */
export interface CompiledConsumer<Contract, Name extends string> {
  readonly diagnostics: readonly Diagnostic[];
  /** Null if the compiler refuses it. */
  readonly result: {
    readonly contract: Contract;
    readonly promises: Promises;
    readonly choice: StrategyChoice<Name>;
  } | null;
}

/** The results for all consumers, in their order. */
export interface CompiledConsumers<Contract, Name extends string> {
  readonly diagnostics: readonly Diagnostic[];
  readonly contracts: readonly Contract[];
  readonly promises: readonly KeptPromise[];
  readonly choices: readonly StrategyChoice<Name>[];
}

export function compileConsumers<Contract extends { readonly consumer: string }, Name extends string>(
  consumers: readonly ConsumerPlan[],
  compile: (consumer: ConsumerPlan) => CompiledConsumer<Contract, Name>,
): CompiledConsumers<Contract, Name> {
  const compiled = consumers.map(compile);
  const results = compiled.flatMap(({ result }) => (result === null ? [] : [result]));
  return deepFreeze({
    diagnostics: compiled.flatMap(({ diagnostics }) => diagnostics),
    contracts: results.map(({ contract }) => contract),
    promises: results.flatMap(({ contract, promises }) => promisesOf(contract.consumer, promises)),
    choices: results.map(({ choice }) => choice),
  });
}
