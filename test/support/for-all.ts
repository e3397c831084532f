import fc from "fast-check";

type Arbitraries<Drawn extends [unknown, ...unknown[]]> = { [At in keyof Drawn]: fc.Arbitrary<Drawn[At]> };

/**
 * Draws values as often as `runs` says. Values that `fc.pre` leaves out do not count, and too many of them are an error.
 *
 * @throws Error with the smallest values for which the check throws or is false
 */
export function forAll<Drawn extends [unknown, ...unknown[]]>(
  runs: number,
  values: readonly [...Arbitraries<Drawn>],
  check: (...drawn: Drawn) => boolean | void,
): void {
  fc.assert(fc.property<Drawn>(...values, check), { numRuns: runs });
}

/** As `forAll`, for a check that waits. */
export async function forAllAsync<Drawn extends [unknown, ...unknown[]]>(
  runs: number,
  values: readonly [...Arbitraries<Drawn>],
  check: (...drawn: Drawn) => Promise<boolean | void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty<Drawn>(...values, check), { numRuns: runs });
}
