import type { ContractOf } from "../adapter.ts";

export type Contract = ContractOf<"sqs">;
export type Operation = Extract<Contract["outcomes"]["success"], readonly unknown[]>[number];
export type SendOperation = Extract<Operation, { readonly operation: "SendMessage" }>;
export type ChangeVisibilityOperation = Extract<Operation, { readonly operation: "ChangeMessageVisibility" }>;

/** For how long a failed message is hidden, in seconds: a random whole number of the contract's, or what the handler asked for, rounded up. */
export function chosenSeconds(
  { visibilityTimeoutSeconds: range }: ChangeVisibilityOperation,
  askedMs: number | null,
): number {
  if (range !== "asked") return range.from + Math.floor(Math.random() * (range.to - range.from + 1));
  if (askedMs === null) throw new Error("the contract wants a delay that no handler asked for");
  return Math.ceil(askedMs / 1_000);
}
