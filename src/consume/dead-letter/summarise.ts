/** Longer chains are loops, or tell nothing more. */
const maxCauses = 5;

/**
 * The stack of an error and of what caused it, as text. Nothing else of an error is read: drivers put rows and requests into its other
 * properties. It never throws, whatever was thrown.
 */
export function summarise(error: unknown): string | undefined {
  const parts: string[] = [];
  let current = error;
  for (let depth = 0; depth < maxCauses && current !== undefined && current !== null; depth++) {
    const text = textOf(current);
    if (text !== undefined) parts.push(text);
    current = read(current, "cause");
  }
  return parts.length === 0 ? undefined : parts.join("\nCaused by: ");
}

function textOf(thrown: unknown): string | undefined {
  if (typeof thrown === "string") return thrown;
  // A function's text is code, and may be anything.
  if (typeof thrown === "function") return undefined;
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  const stack = read(thrown, "stack");
  if (typeof stack === "string" && stack !== "") return stack;
  const [name, message] = [read(thrown, "name"), read(thrown, "message")];
  const words = [name, message].filter((word) => typeof word === "string" && word !== "");
  return words.length === 0 ? undefined : words.join(": ");
}

/** A property of anything, or undefined where there is none or reading it throws. */
export function read(value: unknown, name: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}
