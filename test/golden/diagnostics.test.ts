import { expect, test } from "vitest";

import { proveLoaded } from "../../src/cli/commands.ts";
import { checkSystem, type Diagnostic, parseTarget, plan, renderDiagnostics } from "../../src/index.ts";
import { locateIn } from "../../src/declare/locate.ts";
import { parseText } from "../../src/declare/parse.ts";
import { renderGithub } from "../../src/diagnostics/github.ts";
import { renderSarif } from "../../src/diagnostics/sarif.ts";
import { renderPage } from "../../scripts/diagnostics-page.ts";
import { expectGolden } from "../support/golden.ts";
import { parseSarif } from "../support/sarif.ts";

// The output of a terminal, code scanning and GitHub Actions for the same mistakes. Review every change.

const declarations = {
  // Mistakes on one line and on several, in a name that needs quotes, and a missing key.
  refused: `name: shop
sources:
  orders: { kind: topic }
consumers:
  billing:
    from: { orders: [order.placed, "order, and: 100%"], "a.b: 50%, c": all }
    retries: 3
    retry:
      attempts: 0
      backoff: { kind: exponential, first: 1s, factor: 2, max: 10 }
  "größe.注文 😀": { from: { orders: all } }
`,
  // Fine, with warnings.
  warned: `name: shop
sources: { orders: { kind: topic } }
consumers:
  billing:
    from: { orders: [order.placed] }
    retry: { attempts: 3, backoff: { kind: constant, delay: 10s } }
    crash: { deliveries: 3 }
    deadLetter: { alarmAbove: 0 }
`,
  // Not well-formed: the diagnostic has no path, and its place is the end of the readable text.
  broken: `name: shop
name: shop
`,
} as const;

function diagnosticsOf(text: string): readonly Diagnostic[] {
  const parsed = parseText(text, "yaml");
  const system = parsed.ok ? checkSystem(parsed.value) : parsed;
  const planned = system.ok ? { ...system, value: { system: system.value, plan: plan(system.value) } } : system;
  const proved = proveLoaded(planned, parseTarget("rabbitmq@3.10"));
  return proved.ok ? proved.warnings : proved.diagnostics;
}

test.for(Object.entries(declarations))("%s", async ([name, text]) => {
  const diagnostics = diagnosticsOf(text);
  expect(diagnostics.length).toBeGreaterThan(0);
  const place = { file: "retries/shop, old: 1.yaml", locate: locateIn(text, "yaml") };
  const sarif = renderSarif(diagnostics, { ...place, version: "1.2.3", pageOf: renderPage });
  await expectSarif(name, sarif);
  await expect(renderGithub(diagnostics, place)).toMatchFileSnapshot(`diagnostics/${name}.github.txt`);
  await expect(`${renderDiagnostics(diagnostics, place)}\n`).toMatchFileSnapshot(`diagnostics/${name}.terminal.txt`);
});

test("one problem at several places is one block for a person, and one result for each place in a log", () => {
  const consumer = "{ retry: { attempts: 5, backoff: { kind: constant, delay: 30s } }, deadLetter: { alarmAbove: 0 } }";
  const diagnostics = diagnosticsOf(`name: shop\nconsumers: { billing: ${consumer}, mail: ${consumer} }\n`);
  const alarms = diagnostics.filter(({ code }) => code === "RD209");
  expect(renderDiagnostics(alarms)).toBe(
    [
      "warning[RD209]: RabbitMQ raises no alarm on the depth of a queue",
      "  at   consumers.billing.deadLetter.alarmAbove = 0",
      "  at   consumers.mail.deadLetter.alarmAbove = 0",
      "  fix  let your monitoring watch the messages of the dead queue for more than 0",
      `  see  ${alarms[0]?.docs}`,
    ].join("\n"),
  );
  expect(parseSarif(renderSarif(alarms, { file: "shop.yaml", version: "1.2.3" })).runs[0]?.results).toHaveLength(2);
});

test("without diagnostics the log has no results, and no line is printed", async () => {
  const sarif = renderSarif([], { file: "shop.yaml", version: "1.2.3" });
  expect(parseSarif(sarif).runs[0]?.results).toEqual([]);
  await expectSarif("fine", sarif);
  expect(renderGithub([], { file: "shop.yaml" })).toBe("");
});

async function expectSarif(name: string, sarif: string): Promise<void> {
  const log = parseSarif(sarif);
  expect(sarif).toBe(`${JSON.stringify(log, null, 2)}\n`);
  await expectGolden(`diagnostics/${name}.sarif`, log);
}
