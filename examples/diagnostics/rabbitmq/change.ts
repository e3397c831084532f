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

/** A system on SQS. Its work queue keeps messages for the rest of 14 days. */
function onSqs(retry: string, handlerTimeout: string, retain = "13d"): DeclarationExample {
  const text = [
    "name: shop",
    "sources: { orders: { kind: topic } }",
    "consumers:",
    "  billing:",
    "    from: { orders: [order.placed] }",
    `    retry: { ${retry} }`,
    `    handlerTimeout: ${handlerTimeout}`,
    `    deadLetter: { retain: ${retain} }`,
    "",
  ].join("\n");
  return { kind: "declaration", format: "yaml", text, target: "sqs@eu-west-1", strategy: "visibility" };
}

/** A system whose broker is another version afterwards. */
function versions(...targets: readonly [string, string]): ReturnType<typeof change> {
  const [before, after] = targets.map((target) => systemExample({}, { target, strategy: "waits" })) as [
    DeclarationExample,
    DeclarationExample,
  ];
  return { kind: "change", before, after };
}

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
  RD305: {
    fires: {
      kind: "change",
      before: onSqs("attempts: 1, backoff: { kind: constant, delay: 1s }", "11h"),
      after: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "10m"),
    },
    quiet: {
      kind: "change",
      before: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "7h"),
      after: onSqs("attempts: 2, backoff: { kind: constant, delay: 1s }", "7h"),
    },
  },
  RD306: {
    fires: { ...versions("rabbitmq@4.0", "rabbitmq@3.13"), by: "migrate" },
    quiet: { ...change({}, {}, ["staged", "waits"]), by: "migrate" },
  },
  RD308: {
    fires: {
      kind: "change",
      before: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "10s", "1d"),
      after: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "10s", "10d"),
    },
    quiet: {
      kind: "change",
      before: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "10s", "10d"),
      after: onSqs("attempts: 3, backoff: { kind: constant, delay: 1s }", "10s", "1d"),
    },
  },
  RD307: {
    fires: {
      ...change({}, { retry: "{ attempts: 3, backoff: { kind: constant, delay: 10s } }" }, ["waits", "waits"]),
      by: "migrate --next",
    },
    quiet: { ...change({}, {}, ["waits", "waits"]), by: "migrate --next" },
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
