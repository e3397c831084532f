import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { Subject } from "../explore/model.ts";
import { redriveContract } from "../explore/redrives.ts";
import type { RedrivePlan, Speed } from "../operate/plan.ts";
import { redrivenModel, verifyRedrive } from "../verify/verify-redrive.ts";
import type { SimulationResult } from "./result.ts";
import type { Phase, Scenario, Shares } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** What follows if all letters of a plan fail again, by the proved model of their consumer. */
export interface Forecast extends Pick<SimulationResult, "queues" | "stretchMs"> {
  /** The most attempts of each letter. */
  readonly attempts: number;
  /** The letters that are dead again in the end. */
  readonly deadAgain: number;
  /** The time from the first copy to the last letter's death. */
  readonly deadAgainAfterMs: number;
}

/** Without a rate the copies of a step come in no time. */
const unlimitedPerSecond = 1_000_000;
/** Ten years. The simulation ends with the last letter. */
const drainMs = 315_360_000_000;
/** A simulation of more takes minutes. */
const mostLetters = 1_000_000;
const none: Shares = { transient: 0, "retry-after": 0, permanent: 0, crash: 0, return: 0 };

/**
 * Plays a plan in which every handling fails at once with a transient failure. So the depths are those of consumers that
 * keep up.
 *
 * @returns half a sentence if the forecast cannot be made
 * @throws Error if the proof fails, which is a mistake in Redeliver
 */
export function forecastRedrive<State>(
  subject: Subject<State>,
  { letters, steps }: Pick<RedrivePlan, "letters" | "steps">,
  speed: Speed,
): Forecast | string {
  if (letters === 0) return "no letter would be sent";
  if (letters > mostLetters) return `it would have more than ${mostLetters.toLocaleString("en")} letters`;
  const model = subject.model();
  if (model.resend === undefined) return "nothing can be sent to its work queue alone";
  const perSecond = speed.perSecond ?? unlimitedPerSecond;
  const { phases, durationMs } = phasesOf(steps, perSecond, speed.waitMs);
  const result = played([{ ...subject, model: () => redrivenModel(model) }], {
    durationMs,
    drainMs,
    seed: 1,
    consumers: [
      {
        consumer: subject.consumer,
        arrivals: { perSecond, spacing: "even" },
        instances: 1,
        prefetch: 65_535,
        concurrency: 65_535,
        handlingTime: { fromMs: 1, toMs: 1 },
        restartMs: 1,
        outcomes: { ...none, transient: 1 },
        poison: none,
        phases,
      },
    ],
  });
  if (result === null) return "a message of its consumer can be in too many states";
  // Each redrive of a letter is like the first one.
  const { attempts, violations } = verifyRedrive(model, { ...redriveContract, generations: 1 });
  if (violations.length > 0) throw new Error(`the redrive breaks its promises: ${JSON.stringify(violations)}`);
  const { queues, stretchMs, endedAtMs, consumers } = result;
  const deadAgain = consumers[0]?.deadLettered.total ?? 0;
  return { attempts, deadAgain, deadAgainAfterMs: Math.ceil(endedAtMs), queues, stretchMs };
}

/** Null if there are too many states. */
function played<State>(subjects: readonly Subject<State>[], scenario: Scenario): SimulationResult | null {
  try {
    return simulate(subjects, scenario);
  } catch (cause) {
    if (cause instanceof RefusedError) return null;
    throw cause;
  }
}

/** Each step's copies at the rate, and then the wait without any. */
function phasesOf(steps: readonly number[], perSecond: number, waitMs: number) {
  const still = { isStopped: false, outage: null };
  let durationMs = 0;
  const phases = steps.flatMap((copies): readonly Phase[] => {
    const fromMs = durationMs;
    const pauseMs = fromMs + (1_000 * copies) / perSecond;
    durationMs = pauseMs + waitMs;
    const sending = { ...still, fromMs, arrivalFactor: 1 };
    return waitMs === 0 ? [sending] : [sending, { ...still, fromMs: pauseMs, arrivalFactor: 0 }];
  });
  return { phases, durationMs };
}
