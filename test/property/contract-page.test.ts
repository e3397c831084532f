import fc from "fast-check";
import { expect, test } from "vitest";

import type { TargetInput } from "../../src/index.ts";
import { checkSystem, compile } from "../../src/index.ts";
import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { anySystem } from "../support/arbitraries.ts";

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3" },
  { broker: "rabbitmq", version: "3.10" },
  { broker: "rabbitmq", version: "4.3", strategy: "waits" },
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];

test("whatever compiles has a page, with tables of whole rows, and in its snippets the contract itself", () => {
  let pages = 0;
  fc.assert(
    fc.property(anySystem, fc.constantFrom(...targets), (input, target) => {
      const system = checkSystem(input);
      const compiled = system.ok ? compile(system.value, target) : system;
      if (!compiled.ok) return;
      for (const contract of compiled.value.contracts) {
        pages++;
        const page = renderContractPage(contract);
        // A snippet in JavaScript compares with it; anywhere else it is something that was not there.
        expect(page.replaceAll(/[!=]== undefined/g, "")).not.toMatch(/undefined|\[object|NaN/);
        const [text] = page.split("## Clients");
        for (const line of (text ?? "").split("\n").filter((each) => each.startsWith("|"))) {
          expect([3, 4]).toContain(line.match(/(?<!\\)\|/g)?.length);
        }
        for (const [, json = ""] of page.matchAll(/^CONTRACT = json\.loads\(r"""\n([\s\S]*?)\n"""\)$/gm)) {
          const part = JSON.parse(json) as object;
          expect(contract).toMatchObject(part);
          expect(part).toHaveProperty("outcomes", contract.outcomes);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(pages).toBeGreaterThan(50);
});
