import type { DeclarationExample, ExamplePair } from "./example.ts";
import type { ExampleLines } from "./example-text.ts";
import { systemExample } from "./example-text.ts";

/** The example system with one change made to it. */
function change(
  before: ExampleLines,
  after: ExampleLines,
  strategies: readonly [string, string],
): { kind: "change"; before: DeclarationExample; after: DeclarationExample } {
  const side = (lines: ExampleLines, strategy: string): DeclarationExample =>
    systemExample(lines, { target: "rabbitmq@4.3", strategy });
  return { kind: "change", before: side(before, strategies[0]), after: side(after, strategies[1]) };
}

/** A system whose one consumer takes from two sources, or from the second alone. */
function twoSources(from: string): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic }, sales: { kind: topic } }",
    "consumers:",
    "  billing:",
    `    from: ${from}`,
    "    retry: { attempts: 5, backoff: { kind: constant, delay: 30s } }",
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "rabbitmq@4.3", strategy: "staged" };
}

const salesAlone: DeclarationExample = {
  ...twoSources("{ sales: [order.placed] }"),
  text: twoSources("{ sales: [order.placed] }").text.replace("orders: { kind: topic }, ", ""),
};

/** RD302 and RD303: changes that cannot be deployed over what is there. */
export const changeExamples = {
  RD302: {
    fires: change({}, {}, ["staged", "native"]),
    quiet: change({}, { retry: "{ attempts: 3, backoff: { kind: constant, delay: 10s } }" }, ["staged", "staged"]),
  },
  RD303: {
    fires: {
      kind: "change",
      before: twoSources("{ orders: [order.placed], sales: [order.placed] }"),
      after: salesAlone,
    },
    quiet: { kind: "change", before: twoSources("{ sales: [order.placed] }"), after: salesAlone },
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
