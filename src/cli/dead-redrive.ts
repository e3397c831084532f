import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { confirmProblem, planRedrive } from "../operate/plan.ts";
import { redrive } from "../operate/redrive.ts";
import { forecastRedrive } from "../simulate/forecast-redrive.ts";
import type { FilterOptions } from "./dead-options.ts";
import { UsageError, atPlace, filterOf } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, refuse } from "./refuse.ts";

export interface RedriveOptions extends FilterOptions {
  readonly rate?: number;
  readonly generations: number;
  readonly wait: number;
  readonly stopAbove: number;
  readonly confirm?: number;
}

/** Plans a redrive, and does it if the count of its letters is confirmed. */
export async function redriveCommand(file: string | undefined, options: RedriveOptions): Promise<number> {
  return atPlace(file, options, async ({ queue, contract, subject, operating, letters: dead, factsOf }) => {
    const unreachable = contract === undefined ? null : operating.unreachable(contract);
    if (unreachable !== null) throw new UsageError(unreachable);
    const workQueue = contract?.workQueue ?? null;
    const targets = workQueue === null ? null : new Set([workQueue]);
    const { unsendable } = operating;
    const asked = { filter: filterOf(options), generations: options.generations, targets, workQueue, unsendable };
    const speed = { perSecond: options.rate ?? null, waitMs: options.wait };
    const planned = await planRedrive(dead, queue, asked, factsOf, speed);
    if ("problem" in planned) return refuse([planned.problem], options, {}, exitCodes.refused);
    const { plan, rules } = planned;
    const { renderPlan, renderRedrive } = await import("../report/dead-redrive.ts");
    const horizonMs = contract?.attempts.reduce((sum, each) => sum + (each.delayLatestMs ?? each.delayMs), 0) ?? null;
    if (options.confirm === undefined) {
      const forecast = subject === undefined ? "no declaration names the queue" : forecastRedrive(subject, plan, speed);
      return print(
        options.json === true ? { ...plan, horizonMs, forecast } : renderPlan(plan, speed, horizonMs, forecast),
      );
    }
    const problem = confirmProblem(queue, plan.letters, options.confirm);
    if (problem !== null) return refuse([problem], options, {}, exitCodes.refused);
    const id = randomUUID().slice(0, 8);
    const progress = createProgress("letters sent", plan.letters);
    const result = await redrive(dead, {
      ...speed,
      ...plan,
      id,
      stopAbove: options.stopAbove / 100,
      rules,
      factsOf,
      pause: (delayMs) => setTimeout(delayMs),
      report: (sent, died) => progress(sent, `, ${died} died again`),
    });
    const printed = await print(options.json === true ? { id, plan, ...result } : renderRedrive(id, plan, result));
    return ended(printed, result.stopped === null ? exitCodes.fine : exitCodes.incomplete);
  });
}
