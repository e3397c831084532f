import type { ConsumerScenario } from "./scenario.ts";

/**
 * When the next message arrives. A burst makes time run faster for arrivals: the gap is measured in messages that are to be
 * expected, so that it may begin in one phase and end in another.
 *
 * @param fromUs the time of the message before
 * @param phaseIndex the phase that holds then, or one before it
 * @param gap how many messages are to be expected until the next one: 1 with even spacing, random around 1 otherwise
 * @returns microseconds, or infinity where no more arrives
 */
export function nextArrivalUs(
  { arrivals, phases }: ConsumerScenario,
  durationUs: number,
  fromUs: number,
  phaseIndex: number,
  gap: number,
): number {
  let atUs = fromUs;
  let rest = gap;
  for (let index = phaseIndex; index < phases.length; index++) {
    const endUs = Math.min((phases[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) * 1_000, durationUs);
    if (endUs <= atUs) continue;
    const perUs = (arrivals.perSecond * (phases[index]?.arrivalFactor ?? 1)) / 1_000_000;
    const inPhase = (endUs - atUs) * perUs;
    if (rest < inPhase) return atUs + rest / perUs;
    rest -= inPhase;
    atUs = endUs;
  }
  return Number.POSITIVE_INFINITY;
}
