import { refused } from "../diagnostics/render.ts";
import { checkSystem } from "./check.ts";
import type { System, SystemInput } from "./system.ts";

/**
 * Declares a system: its sources, and for each consumer its messages and its retries.
 *
 * The types reveal a wrong duration, an unknown key and an undeclared source in the editor. This function checks the
 * same rules, and those that types cannot express.
 *
 * @returns the declaration with defaults filled in, frozen. Its type knows the names of the consumers
 * @throws RefusedError with every problem, each with its path, value, reason and fix
 */
export function defineSystem<const Source extends string, const Name extends string>(
  input: SystemInput<Source, Name>,
): System<Name> {
  const checked = checkSystem(input);
  if (!checked.ok) throw refused(checked.diagnostics);
  return checked.value as System<Name>;
}
