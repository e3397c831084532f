import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { deployedOf } from "../migrate/deployed.ts";
import { type LeftBehind, leftBehind } from "../migrate/left-behind.ts";
import { type ProvedChange, proveChange } from "../migrate/prove-change.ts";
import { refuseChange } from "../migrate/refuse-change.ts";
import { type ForTarget, type ProvedFile, exitCodeOf, loadPlan, proveLoaded } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import type { About } from "./refuse.ts";

/** The deployed declaration that a new one is to replace, and its target if that differs. */
export interface FromOptions extends ForTarget {
  readonly from?: string;
  readonly fromTarget?: string;
}

/** A proved change, or the reasons to refuse it with the file that they are about. */
export type CheckedChange =
  | {
      readonly ok: true;
      readonly verdicts: ProvedChange["verdicts"];
      readonly left: readonly LeftBehind[];
      readonly warnings: readonly Diagnostic[];
    }
  | {
      readonly ok: false;
      readonly diagnostics: readonly Diagnostic[];
      readonly about: About;
      readonly exitCode: number;
    };

/**
 * Proves the change from a deployed declaration to a new one, or refuses it as a deployment would.
 *
 * @param file the file of the new declaration
 */
export async function checkChange(
  file: string,
  to: Omit<ProvedFile, "warnings">,
  from: string,
  options: FromOptions,
): Promise<CheckedChange> {
  const planned = await loadPlan(from);
  // `--strategy` is that of the new target. A deployed target of its own has its own strategy, too.
  const { fromTarget, target, strategy } = options;
  const deployed = fromTarget === undefined ? loadTarget(target, strategy) : loadTarget(fromTarget, "auto");
  const proved = proveLoaded(planned, deployed);
  if (!proved.ok) {
    const { diagnostics } = proved;
    return { ok: false, diagnostics, about: { file: from, locate: planned.locate }, exitCode: exitCodeOf(diagnostics) };
  }
  const [before, after] = [deployedOf(proved.value), deployedOf(to)];
  const refuse = (diagnostics: readonly Diagnostic[]): CheckedChange => {
    return { ok: false, diagnostics, about: { file, locate: to.locate }, exitCode: exitCodes.refused };
  };
  const refused = refuseChange(before, after);
  if (refused.length > 0) return refuse(refused);
  const { verdicts, problems, warnings } = proveChange(before, after);
  if (problems.length > 0) return refuse(problems);
  return { ok: true, verdicts, warnings, left: leftBehind(before, after) };
}
