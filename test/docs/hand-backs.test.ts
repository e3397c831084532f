import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { brokers, compile, parseTarget, renderDiagnostics } from "../../src/index.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { accepted, checked } from "../support/examples.ts";

const root = resolve(import.meta.dirname, "../..");
const keepers = { "the broker": "broker", "the consumer": "consumer", nobody: "nobody" } as const;

/** The table of docs/consuming.md, under the heading "Stopping". */
function rowsOfPage() {
  const text = readFileSync(resolve(root, "docs/consuming.md"), "utf8");
  const section = text.slice(text.indexOf("## Stopping"), text.indexOf("## Costs"));
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, line = ""]) => {
    const [target = "", strategies = "", operation = "", costs = "", keeper = "", shownBy = ""] = line.split(" | ");
    return { target, strategies: namesIn(strategies), operation, costs, keeper, shownBy };
  });
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

const rows = rowsOfPage();
const cases = rows.flatMap((row) =>
  namesIn(row.target).flatMap((target) => row.strategies.map((strategy) => ({ ...row, target, strategy, row }))),
);

describe("the costs of a return, as docs/consuming.md lists them", () => {
  test.for(cases)(
    "$row.target, $strategy, on $target: the operation is the contract's, and the keeper is the promise's",
    ({ target, strategy, operation, costs, keeper, row }) => {
      const isInOrder = row.target.endsWith("in order");
      const backoff = strategy === "immediate" ? { kind: "immediate" } : { kind: "constant", delay: "30s" };
      const order = isInOrder ? { order: "per-key" } : {};
      const declaration = billingUnder(strategy, { retry: { attempts: 3, backoff }, handlerTimeout: "10s", ...order });
      const parsed = parseTarget(target === "sqs" ? "sqs@eu-west-1" : target);
      if (!parsed.ok) throw new Error(renderDiagnostics(parsed.diagnostics));
      const { contracts, promises } = accepted(
        compile(checked(declaration), { ...parsed.value, strategy } as Parameters<typeof compile>[1]),
      );
      const [contract] = contracts;
      const returned = contract?.outcomes.return ?? [];
      const operations = "byAttempt" in returned ? [] : returned.map((each) => each.operation);
      expect(operations).toEqual(namesIn(operation));
      const promise = promises.find((each) => each.promise === "return");
      expect(promise?.keeper).toBe(keepers[keeper as keyof typeof keepers]);
      const isFree = /^a \w+ message costs (nothing|no attempt)(?!, but)/.test(promise?.statement ?? "");
      expect(isFree, promise?.statement).toBe(costs === "nothing");
    },
  );

  test("each row names its test, and each strategy has a row", () => {
    for (const { shownBy } of rows) {
      const [file = ""] = namesIn(shownBy);
      expect(existsSync(resolve(root, "test/integration", file)), file).toBe(true);
    }
    const known = Object.values(brokers).flatMap(({ strategyNames }) => strategyNames);
    expect(new Set(rows.flatMap(({ strategies }) => strategies))).toEqual(new Set(known));
  });
});
