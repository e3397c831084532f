import { read } from "../port/read-path.ts";

/** Longer chains are loops, or add nothing. */
const maxCauses = 5;

/**
 * The stack of an error and of its causes, as text. It reads nothing else of an error, because drivers put rows and
 * requests into other properties. It never throws, for any thrown value.
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
  // A function's text is code, and may hold anything.
  if (typeof thrown === "function") return undefined;
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  const stack = read(thrown, "stack");
  if (typeof stack === "string" && stack !== "") return stack;
  const [name, message] = [read(thrown, "name"), read(thrown, "message")];
  const words = [name, message].filter((word) => typeof word === "string" && word !== "");
  return words.length === 0 ? undefined : words.join(": ");
}
