import Table from "cli-table3";

import type { Graph, GraphNode } from "../brokers/graph.ts";
import { resourcesOf } from "../compile/budget.ts";
import type { costTable } from "./costs.ts";
import { type CompiledSystem, brokerOf } from "../brokers/index.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Paint, paintFor } from "../diagnostics/paint.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../plan/plan.ts";
import { graphOfConsumer } from "./graph-layout.ts";
import { type Contract, type OperationLine, type OutcomeCase, outcomeRows } from "./operations.ts";
import { count } from "../contract/in-words.ts";
import { formatRangeMs, originOf, sentencesOf } from "./sentences.ts";
import { visible } from "../diagnostics/visible.ts";

export interface TextOptions {
  /** Colours for a terminal. The default is none. */
  readonly colour?: boolean | Paint;
  /** The most characters of a line. Longer words stand out. The default is 100. */
  readonly columns?: number;
}

export type Style = ReturnType<typeof styleOf>;

/**
 * Shows a declaration's meaning on any broker: each consumer's timeline of attempts and the facts that follow from it.
 * With the contracts of a target, it has the most deliveries there as well.
 */
export function renderPlanText(plan: Plan, options: TextOptions = {}, contracts: readonly Contract[] = []): string {
  const style = styleOf(options);
  const sources = count(Object.keys(plan.sources).length, "source");
  const heading = `${style.paint("bold", visible(plan.system))}: ${count(plan.consumers.length, "consumer")}, ${sources}`;
  return `${[heading, ...plan.consumers.map((each) => renderConsumerPlan(each, contracts, style))].join("\n\n")}\n`;
}

/** Shows a compiled plan: each consumer's strategy, its queues and the keepers of its promises. */
export function renderCompiledText(
  compiled: CompiledSystem,
  plan: Plan,
  warnings: readonly Diagnostic[],
  options: TextOptions = {},
): string {
  const style = styleOf(options);
  const resources = Object.entries(resourcesOf(compiled)).map(([kind, number]) => `${kind} ${number}`);
  const graph = brokerOf(compiled.topology).graphOf(compiled);
  return `${[
    `${style.paint("bold", visible(plan.system))} on ${compiled.target}`,
    ...plan.consumers.map(({ consumer }) => renderCompiledConsumer(compiled, graph, consumer, style)),
    `resources: ${resources.join(", ")}`,
    renderWarnings(warnings, style),
  ].join("\n\n")}\n`;
}

export function renderCostsText(
  target: string,
  { head, rows }: ReturnType<typeof costTable>,
  options: TextOptions = {},
): string {
  const style = styleOf(options);
  return `${style.paint("bold", `costs on ${target}`)}\n${renderTable(head, rows, {}, style)}\n`;
}

/** Shows the operations that a consumer's code must do for each outcome, and why. */
export function renderContractText(contract: Contract, options: TextOptions = {}): string {
  const style = styleOf(options);
  const heading = `${style.paint("bold", visible(contract.consumer))} on ${contract.target}: strategy ${contract.strategy}, ${contract.protocol}`;
  const rows = outcomeRows(contract).flatMap((row) => [
    style.paint("bold", row.asked === null ? row.outcome : `${row.outcome} ${row.asked}`),
    ...row.cases.flatMap((each) => renderCase(each, style)),
    ...(row.why === null ? [] : field("why", row.why, style, 2)),
  ]);
  const facts = [
    ...field("work queue", contract.workQueue ?? "one for each instance, which it declares itself", style, 0),
    ...(contract.deadQueue === null ? [] : field("dead queue", contract.deadQueue, style, 0)),
    ...(contract.permanentErrors.length === 0 ? [] : field("permanent", contract.permanentErrors.join(", "), style, 0)),
  ];
  return `${[heading, ...facts, "", ...rows].join("\n")}\n`;
}

export function styleOf(options: TextOptions) {
  return {
    columns: options.columns ?? 100,
    paint: paintFor(options.colour),
  };
}

function renderConsumerPlan(plan: ConsumerPlan, contracts: readonly Contract[], style: Style): string {
  const heading = `${style.paint("bold", visible(plan.consumer))} from ${visible(originOf(plan))}`;
  if (plan.retry === null) return `${heading}\n  every instance gets its own copy of each message; nothing is retried`;
  const contract = contracts.find(({ consumer }) => consumer === plan.consumer);
  return [
    heading,
    indented(renderTimeline(plan.retry, style)),
    ...sentencesOf(plan, plan.retry, contract).flatMap(({ term, text }) => field(term, text, style, 2)),
  ].join("\n");
}

function renderTimeline(retry: RetryPlan, style: Style): string {
  const rows = retry.attempts.map((each) => [
    String(each.attempt),
    each.attempt === 1 ? "at once" : formatRangeMs(each.delayMs, each.delayLatestMs),
    formatRangeMs(each.dueMs, each.dueLatestMs),
  ]);
  return renderTable(["attempt", "delay", "due"], rows, { colAligns: ["right", "right", "right"] }, style);
}

function renderCompiledConsumer(compiled: CompiledSystem, graph: Graph, consumer: string, style: Style): string {
  const choice = compiled.choices.find((each) => each.consumer === consumer);
  const promises = compiled.promises.filter((each) => each.consumer === consumer);
  const keeperFormat = { broker: "green", consumer: "yellow", nobody: "red" } as const;
  const rows = promises.map(({ promise, keeper, statement }) => [
    promise,
    style.paint(keeperFormat[keeper], keeper),
    visible(statement),
  ]);
  // The first two columns take 18 and 12 characters, the borders 4, the indentation 2.
  const widths = { colWidths: [18, 12, Math.max(24, style.columns - 36)], wordWrap: true };
  return [
    `${style.paint("bold", visible(consumer))}: ${style.paint("cyan", choice?.strategy ?? "no strategy")}`,
    ...(choice === undefined ? [] : wrap(choice.reason, style.columns - 2).map((line) => `  ${line}`)),
    ...(choice?.passedOver ?? []).flatMap(({ strategy, reason }) => field(`not ${strategy}`, reason, style, 2)),
    ...renderQueues(graph, consumer, style),
    indented(renderTable(["promise", "kept by", "statement"], rows, widths, style)),
  ].join("\n");
}

const queueTerms: readonly (readonly [GraphNode["kind"], string])[] = [
  ["work", "work queue"],
  ["instance", "instances"],
  ["tier", "tiers"],
  ["dead", "dead queue"],
];

function renderQueues(graph: Graph, consumer: string, style: Style): string[] {
  const { nodes } = graphOfConsumer(graph, consumer);
  return queueTerms.flatMap(([kind, term]) => {
    const names = nodes
      .filter((node) => node.kind === kind)
      .map(({ label, detail, consumer: owner }) => {
        const remarks = [detail, owner === null ? "shared" : undefined].filter((remark) => remark !== undefined);
        return remarks.length === 0 ? label : `${label} (${remarks.join(", ")})`;
      });
    return names.length === 0 ? [] : field(term, names.join(", "), style, 2);
  });
}

function renderWarnings(warnings: readonly Diagnostic[], style: Style): string {
  if (warnings.length === 0) return "no warnings";
  const lines = warnings.map(
    ({ code, path, message }) =>
      `  ${style.paint("yellow", code)} ${visible(path === "" ? message : `${path}: ${message}`)}`,
  );
  return [`${count(warnings.length, "warning")}:`, ...lines].join("\n");
}

function renderCase({ attempts, operations }: OutcomeCase, style: Style): string[] {
  const indent = attempts === null ? "  " : "    ";
  return [
    ...(attempts === null ? [] : [`  ${attempts}`]),
    ...operations.map(
      (operation, index) => indent + renderOperation(operation, operations.length > 1 ? index + 1 : null, style),
    ),
  ];
}

function renderOperation({ name, flags }: OperationLine, step: number | null, style: Style): string {
  const number = step === null ? "" : `${step}. `;
  return `${number}${style.paint("cyan", name)}${flags.length === 0 ? "" : `  ${visible(flags.join("; "))}`}`;
}

/** A term in its own column, and its text beside it. */
function field(term: string, text: string, style: Style, indent: number): string[] {
  const width = 14;
  return wrap(text, style.columns - indent - width).map(
    (line, index) =>
      " ".repeat(indent) + (index === 0 ? style.paint("dim", term.padEnd(width)) : " ".repeat(width)) + line,
  );
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of visible(text).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export function renderTable(
  head: string[],
  rows: readonly (readonly string[])[],
  options: Omit<Table.TableConstructorOptions, "head">,
  style: Style,
): string {
  const table = new Table({
    head: head.map((each) => style.paint("bold", each)),
    style: { head: [], border: [], compact: true },
    ...options,
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

export function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
