import type { SourcePosition } from "./preview.ts";

/**
 * Reads where a resource was made: `project:///index.ts#12,3`, with a path from the folder of `Pulumi.yaml`.
 *
 * The Node SDK takes the place from a stack trace. In an ES module a frame names a URL. The SDK takes it for a path
 * below the working directory, and the whole path of the file stands behind `file:`. Source:
 * `sourcePositions.parseSourcePosition` of the engine, `Resource.stackTrace` of @pulumi/pulumi 3.270.
 *
 * @returns null if there is no place, or if the file is not the project's: a package made the resource
 */
export function parseSourcePosition(text: unknown): SourcePosition | null {
  const match = typeof text === "string" ? /^project:\/\/\/(.+)#(\d+)(?:,(\d+))?$/.exec(text) : null;
  if (match === null) return null;
  const [, encoded = "", line, column] = match;
  const path = decoded(encoded)?.replace(/^(?:.*\/)?file:\/+/, "/");
  if (path === undefined || /(?:^|\/)(?:node_modules|\.\.)(?:\/|$)/.test(path) || Number(line) < 1) return null;
  return { path, line: Number(line), column: Math.max(1, Number(column ?? 1)) };
}

/** Undefined where it is no part of a URL. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
