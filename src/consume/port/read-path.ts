/** Reads a property of any value. Undefined if it is missing or reading it throws. */
export function read(value: unknown, name: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** Reads a property along a path. Undefined if there is none. */
export function readPath(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(read, value);
}

/** Reads a text along a path. Undefined if it is missing or empty. */
export function readText(value: unknown, ...names: readonly string[]): string | undefined {
  const text = readPath(value, ...names);
  return typeof text === "string" && text !== "" ? text : undefined;
}
