import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import type { PolicyHost, ReportedViolation } from "../support/policy-host.ts";
import { startPolicyHost } from "../support/policy-host.ts";

/** The pack in a process of its own, as Pulumi starts it, with everything mandatory. */
let host: PolicyHost;
beforeAll(async () => {
  host = await startPolicyHost("preset: strict\n");
});
afterAll(async () => host.stop());

async function found(file: string): Promise<readonly ReportedViolation[]> {
  const run = await runExample(file);
  return [...(await host.analyze(run.resources)), ...(await host.analyzeStack(run))];
}

// What an update does is shown to no policy pack: changes.test.ts.
describe.each(rules.filter(({ kind }) => kind !== "change"))("$name", (rule) => {
  test("finds its bad example, and no other rule does", async () => {
    const violations = await found(`examples/policies/${rule.name}/fails.ts`);
    expect(new Set(violations.map((each) => each.rule)), JSON.stringify(violations)).toEqual(new Set([rule.name]));
    for (const { level, message, urn } of violations) {
      expect(level).toBe(rule.isOnlyAdvice === true ? "advisory" : "mandatory");
      expect(message.startsWith(`${rule.description}\n`), message).toBe(true);
      expect(message).toMatch(/\nfix: /);
      expect(urn).toMatch(/^urn:pulumi:/);
    }
  });

  test("is quiet about its good example, like every other rule", async () => {
    expect(await found(`examples/policies/${rule.name}/passes.ts`)).toEqual([]);
  });
});
