import type { Contract, Operation } from "./contract.ts";

/** Which operations of the contract are about a queue, each once. */
export function neededOperations(contract: Contract, queue: string): readonly Operation["operation"][] {
  const { outcomes, retryAfter = [], workQueue } = contract;
  const operations = [...Object.values(outcomes), ...retryAfter].flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  const own = operations.filter((each) => ("queue" in each ? each.queue : workQueue) === queue);
  return [...new Set(own.map(({ operation }) => operation))].toSorted();
}

/** All that a consumer's credentials have to let it do with a queue, as policies call it. */
export function neededActions(contract: Contract, queue: string): readonly string[] {
  const receives = queue === contract.workQueue ? ["ReceiveMessage"] : [];
  const names = ["GetQueueUrl", "GetQueueAttributes", ...receives, ...neededOperations(contract, queue)];
  return names.map((name) => `sqs:${name}`);
}
