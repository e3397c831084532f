/** Waits until a condition holds. The limit is long, because other programs share the machine. @throws Error if it does not hold within the time */
export async function waitUntil(condition: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`it was not so within ${limitMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
