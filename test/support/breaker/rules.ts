import { type Breaker, createBreaker } from "../../../src/consume/breaker.ts";
import { growingPauses } from "../../../src/consume/port/growing-pauses.ts";

const limits = { failures: 10, firstPauseMs: 1_000, longestPauseMs: 60_000 };

/**
 * The rules that the simulation compares. `row` is the usual rule of circuit breakers: pause after a number of failures
 * without a success between, then try one message.
 */
export const rules: Readonly<Record<"none" | "row" | "evidence", () => Pick<Breaker, "failed" | "succeeded">>> = {
  none: () => createBreaker(null),
  row: createRow,
  evidence: () => createBreaker(limits),
};

function createRow(): Pick<Breaker, "failed" | "succeeded"> {
  const pauses = growingPauses(limits.firstPauseMs, limits.longestPauseMs);
  let failures = 0;
  return {
    // After a pause the row is long enough already, so one failed try pauses again.
    failed: () => (++failures >= limits.failures ? pauses.next() : null),
    succeeded: () => {
      failures = 0;
      pauses.reset();
    },
  };
}
