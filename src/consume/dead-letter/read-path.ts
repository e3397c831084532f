import { read } from "./summarise.ts";

/** A property along a path; undefined where there is none. */
export function readPath(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(read, value);
}

/** A text along a path; undefined where there is none, or an empty one. */
export function readText(value: unknown, ...names: readonly string[]): string | undefined {
  const text = readPath(value, ...names);
  return typeof text === "string" && text !== "" ? text : undefined;
}
