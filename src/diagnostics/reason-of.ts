import { inspect } from "node:util";

import { maskCredentials } from "./mask-credentials.ts";

/** A module may throw any value, and reading that value may throw too. */
export function reasonOf(cause: unknown): string {
  try {
    if (!(cause instanceof Error))
      return `it throws ${maskCredentials(inspect(cause, { depth: 0, customInspect: false })).slice(0, 200)}`;
    // A password may have several lines, and a cut one can no longer be recognised. So the text is masked first.
    return `${cause.name}: ${maskCredentials(cause.message).split("\n")[0]}`;
  } catch {
    return "it throws a value that cannot be read";
  }
}
