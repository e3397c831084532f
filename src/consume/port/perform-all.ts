/** A message's last operations, and the number of those that are done. */
export interface Progress<Operation> {
  operations: readonly Operation[];
  done: number;
}

export function noProgress<Operation>(): Progress<Operation> {
  return { operations: [], done: 0 };
}

/**
 * Does operations in order, each after the one before is done. A second try of the same operations goes on at the
 * failed one, so it makes no second copy.
 *
 * @param perform resolves to `over` if the message has met its end, so that no other operation follows
 */
export async function performAll<Operation>(
  progress: Progress<Operation>,
  operations: readonly Operation[],
  perform: (operation: Operation) => Promise<"over" | void>,
): Promise<void> {
  if (progress.operations !== operations) Object.assign(progress, { operations, done: 0 });
  for (const operation of operations.slice(progress.done)) {
    if ((await perform(operation)) === "over") return;
    progress.done += 1;
  }
}
