import fc from "fast-check";
import { expect, test } from "vitest";

import { brokers, compile, parseTarget } from "../../src/index.ts";
import { verify } from "../../src/verify/verify.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";

test(
  "whatever compiles is proved: nothing lost, no loop, the attempts, their times, the crash budget, isolation",
  { timeout: 60_000 },
  () => {
    let proved = 0;
    fc.assert(
      fc.property(anySystem, anyTarget, (input, written) => {
        const target = parseTarget(`rabbitmq@${written.version}`, written.strategy);
        if (!target.ok) throw new Error("the version is known");
        const compiled = compile(checked(input), target.value);
        if (!compiled.ok) return;
        for (const model of brokers.rabbitmq.modelsOf(compiled.value, target.value)) {
          const verdict = verify(model);
          expect(verdict.violations).toEqual([]);
          expect(verdict.deliveries).toBeLessThanOrEqual(model.wanted.maxDeliveries);
          proved++;
        }
      }),
      { numRuns: 200 },
    );
    expect(proved).toBeGreaterThan(200);
  },
);
