import type { ContractOf } from "../adapter.ts";

export type Contract = ContractOf<"servicebus">;
export type Operation = Extract<Contract["outcomes"]["success"], readonly unknown[]>[number];
export type SendOperation = Extract<Operation, { readonly operation: "schedule" | "send" }>;
export type DeadLetterOperation = Extract<Operation, { readonly operation: "deadLetter" }>;

/** How far off a copy is: a random whole number between the two, or what the handler asked for. */
export function chosenMs(delayMs: NonNullable<SendOperation["delayMs"]>, askedMs: number | null): number {
  if (delayMs !== "asked") return delayMs.from + Math.floor(Math.random() * (delayMs.to - delayMs.from + 1));
  if (askedMs === null) throw new Error("the contract wants a delay that no handler asked for");
  return askedMs;
}
