import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

import { motoPython } from "../../scripts/sqs-emulators.mjs";

// There is no compiler of C# where these tests run. What they can say of the snippets for .NET is that they are C#: a grammar parses them.

const pages = resolve(import.meta.dirname, "../golden/contract-pages");

/** Prints for each text in turn where it is no C#. */
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

/** The lines of each text that are no C#. */
function parse(texts: readonly string[]): readonly (readonly number[])[] {
  const output = execFileSync(motoPython, ["-c", parsing], { input: JSON.stringify(texts) });
  return JSON.parse(output.toString()) as number[][];
}

test("every snippet for .NET is C#", () => {
  const snippets = readdirSync(pages).flatMap((page) =>
    [...readFileSync(resolve(pages, page), "utf8").matchAll(/^```csharp\n([\s\S]*?)^```$/gm)].map(
      ([, text = ""]) => text,
    ),
  );
  // RabbitMQ.Client and MassTransit under three strategies, and MassTransit on each page of the two other brokers.
  expect(snippets.length).toBeGreaterThanOrEqual(9);
  expect(parse(snippets)).toEqual(snippets.map(() => []));
  // A parser that took everything would say nothing.
  const broken = snippets.map((text) => text.replace(");", ";"));
  for (const lines of parse(broken)) expect(lines.length).toBeGreaterThan(0);
});
