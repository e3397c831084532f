/**
 * Calls a listener that may not change anything: errors that it throws are ignored. So are rejections of its promise,
 * which would end the process otherwise.
 */
export function unheard(call: () => unknown): void {
  try {
    const answer = call();
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // Ignored, as the docstring says.
  }
}
