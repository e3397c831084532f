import type { DeclarationExample } from "./example.ts";

/** The lines of the example system that one example changes. */
export interface ExampleLines {
  readonly name?: string;
  readonly source?: string;
  readonly consumer?: string;
  readonly from?: string;
  readonly retry?: string;
  /** Lines of the consumer after those. */
  readonly more?: readonly string[];
}

const constantRetry = "{ attempts: 5, backoff: { kind: constant, delay: 30s } }";

/** The text of a system with one source and one consumer. An empty line is left out. */
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

/** A retry with this backoff and so many attempts. */
export function retryText(backoff: string, attempts = 5): string {
  return `{ attempts: ${attempts}, backoff: { ${backoff} } }`;
}
