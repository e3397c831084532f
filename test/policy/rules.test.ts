import { describe, expect, test } from "vitest";

import * as exported from "../../src/policy/index.ts";
import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { policyHost, type ReportedViolation } from "../support/policy-host.ts";

/** The pack in its own process, as Pulumi starts it, with every rule mandatory. */
const host = policyHost("preset: strict\n");

async function found(file: string): Promise<readonly ReportedViolation[]> {
  const run = await runExample(file);
  return [...(await host().analyze(run.resources)), ...(await host().analyzeStack(run))];
}

test("a pack can import every rule by its name", () => {
  const byName = Object.entries<unknown>(exported);
  const nameOf = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  expect(rules.map((rule) => byName.find(([, value]) => value === rule)?.[0])).toEqual(
    rules.map(({ name }) => nameOf(name)),
  );
});

// Pulumi shows a policy pack no changes. changes.test.ts tests the rules on changes.
describe.each(rules.filter(({ kind }) => kind !== "change"))("$name", (rule) => {
  test("reports its bad example, and no other rule does", async () => {
    const violations = await found(`examples/policies/${rule.name}/fails.ts`);
    expect(new Set(violations.map((each) => each.rule)), JSON.stringify(violations)).toEqual(new Set([rule.name]));
    for (const { level, message, urn } of violations) {
      expect(level).toBe(rule.isOnlyAdvice === true ? "advisory" : "mandatory");
      expect(message.startsWith(`${rule.description}\n`), message).toBe(true);
      expect(message).toMatch(/\nfix: /);
      expect(urn).toMatch(/^urn:pulumi:/);
    }
  });

  test("reports nothing in its good example, like every other rule", async () => {
    expect(await found(`examples/policies/${rule.name}/passes.ts`)).toEqual([]);
  });
});
