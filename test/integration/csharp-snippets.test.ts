import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

import { motoPython } from "../../scripts/sqs-emulators.mjs";
import { filesOf, pageOf } from "../support/contract-page.ts";
import { pageCases } from "../support/contract-page-cases.ts";

// These tests have no compiler of C#. They only parse the snippets for .NET with a grammar of C#.

/** Prints for each text the places that do not parse as C#. */
const parsing = `
import json, sys
import tree_sitter, tree_sitter_c_sharp

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))

def errors_in(node):
    if node.is_error or node.is_missing:
        yield node.start_point.row + 1
    for child in node.children:
        yield from errors_in(child)

texts = json.load(sys.stdin)
print(json.dumps([list(errors_in(parser.parse(text.encode()).root_node)) for text in texts]))
`;

/** Returns for each text the lines that do not parse as C#. */
function parse(texts: readonly string[]): readonly (readonly number[])[] {
  const output = execFileSync(motoPython, ["-c", parsing], { input: JSON.stringify(texts) });
  return JSON.parse(output.toString()) as number[][];
}

test("every snippet for .NET compiles as C#", () => {
  const snippets = pageCases.flatMap(([, contract]) => [...filesOf(pageOf(contract), ".cs").values()]);
  // RabbitMQ.Client and MassTransit under three strategies, and MassTransit on each page of the other two brokers.
  expect(snippets.length).toBeGreaterThanOrEqual(9);
  expect(parse(snippets)).toEqual(snippets.map(() => []));
  // Broken snippets show that the parser does not accept everything.
  const broken = snippets.map((text) => text.replace(");", ";"));
  for (const lines of parse(broken)) expect(lines.length).toBeGreaterThan(0);
});
