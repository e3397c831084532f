import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { brokers } from "../brokers/index.ts";
import { count } from "../contract/in-words.ts";
import type { Plan } from "../plan/plan.ts";
import { resourcesOf } from "../compile/budget.ts";
import { delaysOf } from "../report/sentences.ts";
import { type ProvedFile, loadPlan, proveLoaded } from "./commands.ts";
import { loadTarget } from "./load-target.ts";
import { print } from "./output.ts";
import { usage } from "./refuse.ts";
import { UnwritableError } from "./write-file.ts";
import { writeReport } from "./write-report.ts";

const example = "examples/portable.yaml";

/** Lets every broker prove an example, writes the report on it, and shows on one screen the result. */
export async function demoCommand(options: { readonly output: string; readonly verbose?: true }): Promise<number> {
  const { output } = options;
  try {
    const planned = await loadPlan(fileURLToPath(new URL(`../../${example}`, import.meta.url)));
    const all = Object.values(brokers).map(({ exampleTarget }) => {
      const proved = proveLoaded(planned, loadTarget(exampleTarget, "auto"));
      if (!proved.ok) throw new Error(`the example is refused on ${exampleTarget}`);
      return { ...proved.value, locate: planned.locate, warnings: proved.warnings };
    });
    if (!planned.ok) throw new Error("the example is refused");
    const { text } = await writeReport(planned.value.plan, all, output);
    return await print(`${options.verbose === true ? `${text}\n` : ""}${summaryOf(planned.value.plan, all, output)}`);
  } catch (cause) {
    if (cause instanceof UnwritableError) return usage(`${output} cannot be written: ${cause.message}`, {});
    throw cause;
  }
}

function summaryOf(plan: Plan, all: readonly ProvedFile[], folder: string): string {
  const declared = plan.consumers.map(({ consumer, retry }) =>
    retry === null
      ? `  ${consumer}: no retry`
      : `  ${consumer}: ${count(retry.attempts.length, "attempt")}, delays of ${delaysOf(retry)}, then the dead queue`,
  );
  const compiled = all.map((each) => {
    const resources = Object.values(resourcesOf(each.compiled)).reduce((sum, number) => sum + number, 0);
    const strategies = each.compiled.choices.map(({ consumer, strategy }) => `${consumer} by ${strategy}`).join(", ");
    const warnings = each.warnings.length === 0 ? "" : `; ${count(each.warnings.length, "warning")}`;
    return `  ${each.compiled.target}: ${count(resources, "resource")}; ${strategies}${warnings}`;
  });
  const states = all.flatMap(({ verdicts }) => verdicts).reduce((sum, verdict) => sum + verdict.states, 0);
  return `declared in ${example} of Redeliver
${declared.join("\n")}
compiled for ${all.length} brokers; the strategy is the way to use a broker
${compiled.join("\n")}
proved in all ${states} states that a message can reach
  no message is lost, none loops for ever, none comes early, and each failure gets its attempts
open ${pathToFileURL(resolve(folder, "index.html")).href}
`;
}
