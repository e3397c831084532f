import type { DeclarationExample, FileExample } from "./example.ts";

/** The lines of the example system that an example changes. */
export interface ExampleLines {
  readonly name?: string;
  readonly source?: string;
  readonly consumer?: string;
  readonly from?: string;
  readonly retry?: string;
  /** More lines of the consumer, after those above. */
  readonly more?: readonly string[];
}

const constantRetry = "{ attempts: 5, backoff: { kind: constant, delay: 30s } }";

/** The text of a system with one source and one consumer. Empty lines are left out. */
export function systemText(lines: ExampleLines = {}): string {
  const from = lines.from ?? "{ orders: [order.placed] }";
  const retry = lines.retry ?? constantRetry;
  return [
    `name: ${lines.name ?? "shop"}`,
    `sources: { orders: { kind: ${lines.source ?? "topic"} } }`,
    "consumers:",
    `  ${lines.consumer ?? "billing"}:`,
    `    from: ${from}`,
    ...(retry === "" ? [] : [`    retry: ${retry}`]),
    ...(lines.more ?? []).map((line) => `    ${line}`),
    "",
  ].join("\n");
}

/** That system as an example. */
export function systemExample(
  lines: ExampleLines,
  rest: Omit<DeclarationExample, "kind" | "format" | "text"> = {},
): DeclarationExample {
  return { kind: "declaration", format: "yaml", text: systemText(lines), ...rest };
}

/** A retry with this backoff and this number of attempts. */
export function retryText(backoff: string, attempts = 5): string {
  return `{ attempts: ${attempts}, backoff: { ${backoff} } }`;
}

/** A number of consumers like billing. Each has these routing keys of the one source. */
export function generatedExample(consumers: number, keys: string, more: readonly string[] = []): FileExample {
  const text = [
    'import { constant, defineSystem } from "redeliver";',
    "",
    "const billing = {",
    `  from: { orders: ${keys} },`,
    '  retry: { attempts: 5, backoff: constant("30s") },',
    '  handlerTimeout: "30s",',
    ...more.map((line) => `  ${line}`),
    "};",
    "export default defineSystem({",
    '  name: "shop",',
    '  sources: { orders: { kind: "topic" } },',
    `  consumers: Object.fromEntries(Array.from({ length: ${consumers} }, (_, index) => [\`billing-\${index}\`, billing])),`,
    "});",
    "",
  ].join("\n");
  return { kind: "file", name: "shop.js", text };
}
