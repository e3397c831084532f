/**
 * Calls somebody who is told of something and has no say in it: what they throw changes nothing. Nor does a promise of theirs that is rejected,
 * which would otherwise end the process, since nobody waits for it.
 */
export function unheard(call: () => unknown): void {
  try {
    const answer = call();
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // As said above.
  }
}
