import { waysOf } from "../../brokers/contract.ts";
import type { ContractOf } from "../adapter.ts";

export type Contract = ContractOf<"rabbitmq">;
export type Operation = Extract<Contract["outcomes"]["success"], readonly unknown[]>[number];
export type PublishOperation = Extract<Operation, { readonly operation: "basic.publish" }>;
export type ModifiedOperation = Extract<Operation, { readonly operation: "modified" }>;

/** One of the ways of an operation, at random, each as likely as the others. */
export function oneOf<Way>(ways: readonly Way[]): Way {
  return ways[Math.floor(Math.random() * ways.length)] as Way;
}

/** Every operation of a contract that publishes a copy, whatever the outcome and the attempt, and in all of its ways. */
export function publishedBy(contract: Contract): readonly PublishOperation[] {
  const outcomes = [...Object.values(contract.outcomes), ...(contract.retryAfter ?? [])];
  const operations = outcomes.flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  return operations.flatMap((each) => (each.operation === "basic.publish" ? waysOf(each) : []));
}

/** How long a copy waits, or how far off a delivery is: a random whole number between the two, or what the handler asked for. */
export function chosenMs(
  range: { readonly from: number; readonly to: number } | "asked",
  askedMs: number | null,
): number {
  if (range !== "asked") return range.from + Math.floor(Math.random() * (range.to - range.from + 1));
  if (askedMs === null) throw new Error("the contract wants a delay that no handler asked for");
  return askedMs;
}
