import type { DeclarationExample, ExamplePair } from "../example.ts";
import type { ExampleLines } from "../example-text.ts";
import { systemExample } from "../example-text.ts";

/** The example system with one change. */
function change(
  before: ExampleLines,
  after: ExampleLines,
  strategies: readonly [string, string],
): { kind: "change"; before: DeclarationExample; after: DeclarationExample } {
  const side = (lines: ExampleLines, strategy: string): DeclarationExample =>
    systemExample(lines, { target: "rabbitmq@4.3", strategy });
  return { kind: "change", before: side(before, strategies[0]), after: side(after, strategies[1]) };
}

/** A system with one consumer, which takes from two sources, or from the second alone. */
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

/** The file of a stack with this password. */
function stackText(password: string): string {
  return [
    "config:",
    '  redeliver:target: { broker: rabbitmq, version: "4.3" }',
    "  redeliver:vhost: shop",
    "  redeliver:endpoint: https://rabbitmq.example.com",
    "  redeliver:username: deployer",
    `  redeliver:password: ${password}`,
    "",
  ].join("\n");
}

/** RD3xx: deployments that are refused. */
export const changeExamples = {
  RD301: {
    fires: { kind: "stack", text: stackText("correct-horse-battery-staple") },
    quiet: { kind: "stack", text: stackText("{ secure: v1:bm9uY2U=:Y2lwaGVydGV4dA== }") },
  },
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
  RD304: {
    fires: change(
      { retry: "{ attempts: 12, backoff: { kind: constant, delay: 10s } }" },
      { retry: "{ attempts: 3, backoff: { kind: constant, delay: 10s } }" },
      ["staged", "staged"],
    ),
    quiet: change(
      { retry: "{ attempts: 10, backoff: { kind: constant, delay: 10s } }" },
      { retry: "{ attempts: 3, backoff: { kind: constant, delay: 10s } }" },
      ["staged", "staged"],
    ),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
