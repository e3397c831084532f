import { expect, test } from "vitest";

import { compileLoaded } from "../../src/cli/commands.ts";
import { checkSystem } from "../../src/declare/check.ts";
import { locateIn } from "../../src/declare/locate.ts";
import { parseText } from "../../src/declare/parse.ts";
import type { Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { renderGithub } from "../../src/diagnostics/github.ts";
import { renderDiagnostics } from "../../src/diagnostics/render.ts";
import { renderSarif } from "../../src/diagnostics/sarif.ts";
import { parseSarif } from "../support/sarif.ts";

// What a terminal, code scanning and GitHub Actions show of the same mistakes. A change is read in review.

const declarations = {
  // Mistakes on one line and on several, in a name that has to be quoted, and a key that is missing.
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
  // Not well-formed: the diagnostic has no path, and the place is where the text breaks off.
  broken: `name: shop
name: shop
`,
} as const;

function diagnosticsOf(text: string): readonly Diagnostic[] {
  const parsed = parseText(text, "yaml");
  const compiled = compileLoaded(parsed.ok ? checkSystem(parsed.value) : parsed, {
    target: "rabbitmq@3.10",
    strategy: "auto",
  });
  return compiled.ok ? compiled.warnings : compiled.diagnostics;
}

test.for(Object.entries(declarations))("%s", async ([name, text]) => {
  const diagnostics = diagnosticsOf(text);
  expect(diagnostics.length).toBeGreaterThan(0);
  const place = { file: "retries/shop, old: 1.yaml", locate: locateIn(text, "yaml") };
  const sarif = renderSarif(diagnostics, { ...place, version: "1.2.3" });
  parseSarif(sarif);
  await expect(sarif).toMatchFileSnapshot(`diagnostics/${name}.sarif`);
  await expect(renderGithub(diagnostics, place)).toMatchFileSnapshot(`diagnostics/${name}.github.txt`);
  await expect(`${renderDiagnostics(diagnostics, place)}\n`).toMatchFileSnapshot(`diagnostics/${name}.terminal.txt`);
});

test("nothing to say is a log without results, and no line at all", async () => {
  const sarif = renderSarif([], { file: "shop.yaml", version: "1.2.3" });
  expect(parseSarif(sarif).runs[0]?.results).toEqual([]);
  await expect(sarif).toMatchFileSnapshot("diagnostics/fine.sarif");
  expect(renderGithub([], { file: "shop.yaml" })).toBe("");
});
