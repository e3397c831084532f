import { operationsIn } from "../../../contract/interpret.ts";
import type { Contract, Operation } from "../compile/contract.ts";

/** The contract's operations on a queue, each once. */
export function neededOperations(contract: Contract, queue: string): readonly Operation["operation"][] {
  const own = operationsIn<Operation>(contract).filter(
    (each) => ("queue" in each ? each.queue : contract.workQueue) === queue,
  );
  return [...new Set(own.map(({ operation }) => operation))].toSorted();
}

/** All actions that a consumer's credentials need on a queue, under their names in policies. */
export function neededActions(contract: Contract, queue: string): readonly string[] {
  const receives = queue === contract.workQueue ? ["ReceiveMessage"] : [];
  const names = ["GetQueueUrl", "GetQueueAttributes", ...receives, ...neededOperations(contract, queue)];
  return names.map((name) => `sqs:${name}`);
}
