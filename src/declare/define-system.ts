import { refused } from "../diagnostics/render.ts";
import { checkSystem } from "./check.ts";
import type { System, SystemInput } from "./system.ts";

/**
 * Declares a system: its sources, and for each consumer what it takes and how it retries.
 *
 * The types catch a wrong duration, an unknown key and an undeclared source in the editor; the same rules,
 * and those that types cannot express, are checked here.
 *
 * @returns the declaration with defaults filled in, frozen
 * @throws RefusedError with every problem found, each with its path, value, reason and fix
 */
export function defineSystem<const Source extends string>(input: SystemInput<Source>): System {
  const checked = checkSystem(input);
  if (!checked.ok) throw refused(checked.diagnostics);
  return checked.value;
}
