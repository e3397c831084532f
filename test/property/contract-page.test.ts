import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compile, type TargetInput } from "../../src/index.ts";
import { anySystem } from "../support/arbitraries.ts";
import { pageOf, pagesFor } from "../support/contract-page.ts";
import { pageCases } from "../support/contract-page-cases.ts";
import { forAll } from "../support/for-all.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3" },
  { broker: "rabbitmq", version: "3.10" },
  { broker: "rabbitmq", version: "4.3", strategy: "waits" },
];
/** Each broker has its own generator: Service Bus has no place for most delays and names of `anySystem`. */
const anyCase: fc.Arbitrary<readonly [unknown, TargetInput]> = fc.oneof(
  fc.tuple(anySystem, fc.constantFrom(...targets)),
  fc.tuple(anySqsDeclaration, anySqsTarget),
  fc.tuple(anyServicebusDeclaration, anyServicebusTarget),
);

/**
 * Returns each contract that a page embeds. Python, C# and JavaScript embed it as JSON, and Java as calls that
 * JavaScript can run.
 */
function embeddedIn(page: string): readonly object[] {
  const json = [
    ...page.matchAll(/^CONTRACT = json\.loads\(r"""\n([^]*?)\n"""\)$/gm),
    ...page.matchAll(/ Contract = JsonNode\.Parse\("""\n([^]*?)\n"""\)!;$/gm),
    ...page.matchAll(/^const CONTRACT = (\{\n[^]*?\n\});$/gm),
  ].map(([, text = ""]) => JSON.parse(text) as object);
  const calls = [...page.matchAll(/ Map<String, Object> CONTRACT = (map\([^]*?\n {4}\));$/gm)].map(([, text = ""]) => {
    const expression = text.replaceAll(/"(?:[^"\\]|\\.)*"|(\d+)L|\(\) -> /g, (all, digits?: string) =>
      all === "() -> " ? "() => " : (digits ?? all),
    );
    // oxlint-disable-next-line no-new-func
    return new Function("map", "list", "part", `return ${expression}`)(
      mapOf,
      (...values: unknown[]) => values,
      (part: () => unknown) => part(),
    ) as object;
  });
  return [...json, ...calls];
}

function mapOf(...namesAndValues: readonly unknown[]): object {
  const names = namesAndValues.filter((_, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, namesAndValues[2 * index + 1]]));
}

test("every compiled system has a page with complete tables, and with the contract in its snippets", () => {
  const pages = { rabbitmq: 0, sqs: 0, servicebus: 0 };
  forAll(600, [anyCase], ([input, target]) => {
    const system = checkSystem(input);
    const compiled = system.ok ? compile(system.value, target) : system;
    if (!compiled.ok) return;
    for (const contract of compiled.value.contracts) {
      pages[target.broker]++;
      const page = pageOf(contract);
      // A snippet in JavaScript compares with `undefined`. Anywhere else the word means that a value was missing.
      expect(page.replaceAll(/[!=]== undefined/g, "")).not.toMatch(/undefined|\[object|NaN/);
      const [text] = page.split("## Clients");
      for (const line of (text ?? "").split("\n").filter((each) => each.startsWith("|"))) {
        expect([3, 4]).toContain(line.match(/(?<!\\)\|/g)?.length);
      }
      const parts = embeddedIn(page);
      const holders = pagesFor(contract)
        .clientsOf(contract)
        .flatMap(({ files = [] }) => files)
        .filter((file) => /(?:onsumer|service-bus)\.\w+$/.test(file));
      expect(parts).toHaveLength(holders.length);
      for (const part of parts) {
        expect(contract).toMatchObject(part);
        expect(part).toHaveProperty("outcomes", contract.outcomes);
      }
    }
  });
  // Per broker, about one in six of the 200 cases compiles. Five or fewer happen once in 10⁹ runs.
  for (const count of Object.values(pages)) expect(count).toBeGreaterThan(5);
});

test("a contract that is too large for one method of Java is divided into several", () => {
  const [, contract] = pageCases.find(([name]) => name === "rabbitmq-waits") ?? [];
  const [step] = contract?.retryAfter ?? [];
  if (contract === undefined || step === undefined) throw new Error("no contract");
  const large = { ...contract, retryAfter: Array.from({ length: 100 }, () => step) } as typeof contract;
  const page = pageOf(large);
  expect(page).toContain("part(() -> map(");
  const parts = embeddedIn(page);
  expect(parts).toHaveLength(3);
  for (const part of parts) expect(part).toHaveProperty("retryAfter", large.retryAfter);
});
