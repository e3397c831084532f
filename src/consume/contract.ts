import type { BrokerName, CompiledSystem } from "../brokers/index.ts";
import { operationsAfter as operationsOf } from "../brokers/contract.ts";
import type { Outcome } from "../brokers/contract.ts";
import type { AnyOperation } from "./adapter.ts";

/** A contract of any broker. */
export type AnyContract = CompiledSystem<BrokerName>["contracts"][number];

/** The operations of an outcome after an attempt, of whatever broker the contract is. */
export function operationsAfter(outcome: Outcome<AnyOperation>, attempt: number): readonly AnyOperation[] {
  return operationsOf(outcome, attempt);
}

/** What a delay that a handler asks for comes to. */
export interface AskedDelay {
  readonly operations: readonly AnyOperation[];
  readonly delayMs: number;
}

/** The first step that is long enough; of a delay that is longer than all of them the longest. Null where handlers may not ask. */
export function askedDelay(contract: AnyContract, attempt: number, delayMs: number): AskedDelay | null {
  const steps = contract.retryAfter ?? [];
  const step = steps.find((each) => each.upToMs >= delayMs) ?? steps.at(-1);
  if (step === undefined) return null;
  return { operations: operationsAfter(step, attempt), delayMs: Math.min(delayMs, step.upToMs) };
}
