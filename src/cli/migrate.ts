import { join } from "node:path";

import { planMigration } from "../migrate/plan-migration.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type FromOptions, deployedBefore } from "./check-change.ts";
import { exitCodeOf, loadPlan } from "./commands.ts";
import { inNames } from "./load-target.ts";
import { targetFor } from "./lock-file.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { refuse, say, usage } from "./refuse.ts";
import { UnwritableError, writeWhole } from "./write-file.ts";
import { yamlOf } from "./write-step.ts";

export interface MigrateOptions extends FromOptions {
  readonly output?: string;
  readonly next?: true;
  readonly apply?: true;
  /** Goes back to the declaration before the migration in progress. */
  readonly back?: true;
  /** Takes the shortest way, and agrees to each promise that it weakens. */
  readonly acceptWeaker?: true;
  /** Says that no program publishes any more to the sources that the migration leaves. */
  readonly publishersMoved?: true;
  /** The time to wait at a gate, in ms. */
  readonly wait?: number;
}

/** Shows the proved steps from the deployed declaration to a new one, and writes a declaration for each. */
export async function migrateCommand(file: string, options: MigrateOptions): Promise<number> {
  const { output: folder, ...answer } = options;
  const { wait, publishersMoved } = options;
  if (wait !== undefined || publishersMoved !== undefined)
    return usage(`${wait === undefined ? "--publishers-moved" : "--wait"} needs --next or --apply`, answer);
  const planned = await loadPlan(file, options.target);
  if (!planned.ok)
    return refuse(planned.diagnostics, answer, { file, locate: planned.locate }, exitCodeOf(planned.diagnostics));
  const target = targetFor(planned, options.target, options.strategy);
  if (!target.ok) return refuse(target.diagnostics, answer, {}, exitCodes.usage);
  const before = await deployedBefore(nameOfSystem(planned.value.system), options);
  if (before === null)
    return usage("name the deployed declaration with --from, or an environment that has a lock with --env", answer);
  if ("ok" in before) return refuse(before.diagnostics, answer, before.about, before.exitCode);
  const migration = planMigration(before, planned.value.system, target.value, {
    acceptWeaker: options.acceptWeaker,
  });
  const about = { file, locate: planned.locate };
  if (!migration.ok) {
    const placed = migration.diagnostics.map((each) => inNames(each, planned.own));
    return refuse(placed, answer, about, exitCodes.refused);
  }
  const { steps } = migration.value;
  const files = steps.map((_, index) => join(folder ?? "", nameOfStep(index, steps.length)));
  try {
    if (folder !== undefined)
      for (const [index, { system }] of steps.entries()) await writeWhole(files[index] ?? "", yamlOf(system));
  } catch (cause) {
    if (cause instanceof UnwritableError) return usage(`${folder} cannot be written: ${cause.message}`, answer);
    throw cause;
  }
  if (options.json === true) return print(migration.value);
  const warnings = steps.flatMap((step) => step.warnings);
  if (warnings.length > 0) say(warnings, about);
  const { renderMigration } = await import("../report/migration.ts");
  return print(renderMigration(migration.value, files));
}

function nameOfStep(index: number, count: number): string {
  return `${index + 1}-${index === count - 1 ? "last" : index === 0 ? "beside" : "given-up"}.yaml`;
}
