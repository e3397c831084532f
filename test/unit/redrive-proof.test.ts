import { describe, expect, test } from "vitest";

import { brokerOf, compileAndProve, type CompiledSystem, type SystemInput, type Target } from "../../src/index.ts";
import { accepted, checked, shopWith } from "../support/examples.ts";
import { redriveCases } from "../support/redrive-cases.ts";
import { verifyRedrive } from "../../src/verify/verify-redrive.ts";

// Dead letters are sent again and again, and each redrive may crash at every step.

function proved(system: SystemInput, input: object): { readonly compiled: CompiledSystem; readonly target: Target } {
  return accepted(compileAndProve(checked(system), input as Target));
}

describe.each(redriveCases)("$title", ({ target: input, consumer }) => {
  const systemWith = (more: object): SystemInput =>
    shopWith({ billing: { ...consumer, ...more }, audit: { ...consumer, from: { orders: "all" } } }) as SystemInput;
  const before = proved(systemWith({}), input);

  test("a redrive loses nothing, reaches nobody else, and ends", () => {
    const { attempts } = consumer.retry;
    for (const { model } of brokerOf(before.target).subjectsOf(before.compiled, before.target)) {
      const verdict = verifyRedrive(model());
      expect(verdict.violations).toEqual([]);
      expect(verdict.attempts).toBe(attempts);
      // Each letter has been sent again: the proof of an empty model would say nothing.
      expect(verdict.states).toBeGreaterThan(4 * attempts);
    }
  });

  test("also while the topology changes", () => {
    const attempts = consumer.retry.attempts + 1;
    const after = proved(systemWith({ retry: { ...consumer.retry, attempts } }), input);
    const subjects = brokerOf(after.target).changesOf(before, after);
    expect(subjects.map((each) => each.consumer)).toContain("billing");
    for (const { model } of subjects) expect(verifyRedrive(model()).violations).toEqual([]);
  });
});
