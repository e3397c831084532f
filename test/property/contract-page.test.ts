import fc from "fast-check";
import { expect, test } from "vitest";

import type { TargetInput } from "../../src/index.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { anySystem } from "../support/arbitraries.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3" },
  { broker: "rabbitmq", version: "3.10" },
  { broker: "rabbitmq", version: "4.3", strategy: "waits" },
];
/** Systems for each broker: of the first kind hardly any compiles for Service Bus, which has no place for most of their delays and names. */
const anyCase: fc.Arbitrary<readonly [unknown, TargetInput]> = fc.oneof(
  fc.tuple(anySystem, fc.constantFrom(...targets)),
  fc.tuple(anySqsDeclaration, anySqsTarget),
  fc.tuple(anyServicebusDeclaration, anyServicebusTarget),
);

test("whatever compiles has a page, with tables of whole rows, and in its snippets the contract itself", () => {
  const pages = { rabbitmq: 0, sqs: 0, servicebus: 0 };
  fc.assert(
    fc.property(anyCase, ([input, target]) => {
      const system = checkSystem(input);
      const compiled = system.ok ? compile(system.value, target) : system;
      if (!compiled.ok) return;
      for (const contract of compiled.value.contracts) {
        pages[target.broker]++;
        const page = renderContractPage(contract);
        // A snippet in JavaScript compares with it; anywhere else it is something that was not there.
        expect(page.replaceAll(/[!=]== undefined/g, "")).not.toMatch(/undefined|\[object|NaN/);
        const [text] = page.split("## Clients");
        for (const line of (text ?? "").split("\n").filter((each) => each.startsWith("|"))) {
          expect([3, 4]).toContain(line.match(/(?<!\\)\|/g)?.length);
        }
        const inPython = page.matchAll(/^CONTRACT = json\.loads\(r"""\n([\s\S]*?)\n"""\)$/gm);
        const inJavascript = page.matchAll(/^const CONTRACT = (\{\n[\s\S]*?\n\});$/gm);
        for (const [, json = ""] of [...inPython, ...inJavascript]) {
          const part = JSON.parse(json) as object;
          expect(contract).toMatchObject(part);
          expect(part).toHaveProperty("outcomes", contract.outcomes);
        }
      }
    }),
    { numRuns: 600 },
  );
  // About one in six of the 200 cases of a broker compiles: five or fewer happen once in 10⁹ runs.
  for (const count of Object.values(pages)) expect(count).toBeGreaterThan(5);
});
