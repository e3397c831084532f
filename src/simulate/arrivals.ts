import type { ConsumerScenario } from "./scenario.ts";

/**
 * Computes the time of the next arrival. A burst makes time run faster for arrivals. The gap is measured in expected
 * messages, so it may begin in one phase and end in another.
 *
 * @param fromUs the time of the previous message
 * @param phaseIndex the phase at that time, or an earlier one
 * @param gap the number of expected messages until the next one: 1 with even spacing, random around 1 otherwise
 * @returns microseconds, or infinity if no more arrive
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
