import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Graph } from "../src/brokers/graph.ts";
import { brokerOf } from "../src/brokers/index.ts";
import { formatDurationMs } from "../src/declare/duration.ts";
import { parseText } from "../src/declare/parse.ts";
import { checkSystem, plan, renderDiagnostics } from "../src/index.ts";
import { renderSvg } from "../src/report/svg.ts";
import { type Priced, constantDelay, onServiceBus, onSqs, systemOf } from "./costs-page.ts";

/** A picture of each strategy, with one consumer. */
const ofStrategies = [...constantDelay, ...onSqs, ...onServiceBus].map((priced) => ({
  file: `docs/pictures/${priced.target.strategy}.svg`,
  text: async (): Promise<string> => pictureOf(priced),
}));

export const pictures = [{ file: "docs/pictures/overview.svg", text: overview }, ...ofStrategies];

/** The way of a message of the example, with one queue for all those in which it waits. It opens the README. */
async function overview(): Promise<string> {
  const read = parseText(readFileSync(join(import.meta.dirname, "../examples/shop.yaml"), "utf8"), "yaml");
  const checked = read.ok ? checkSystem(read.value) : read;
  if (!checked.ok) throw new Error(renderDiagnostics(checked.diagnostics));
  const { consumer, retry } = plan(checked.value).consumers[0] ?? {};
  const { attempts = [], crashDeliveries } = retry ?? {};
  const delays = attempts.slice(1).map(({ delayMs }) => formatDurationMs(delayMs));
  const [source, work, tier, dead] = [
    "shop.orders",
    `shop.${consumer}`,
    "a queue for each attempt",
    `shop.${consumer}.dead`,
  ];
  const dies = `permanent failure\nfailure of attempt ${attempts.length}\n${crashDeliveries} crashes`;
  const nodes: Graph["nodes"] = [
    { id: source, label: source, kind: "source", consumer: null },
    { id: work, label: work, kind: "work", consumer: null },
    { id: tier, label: tier, kind: "tier", detail: `waits ${delays.join(", ")}`, consumer: null },
    { id: dead, label: dead, kind: "dead", consumer: null },
  ];
  const edges: Graph["edges"] = [
    { from: source, to: work, kind: "publish", label: "each message", consumer: null },
    { from: work, to: tier, kind: "retry", label: "failure", consumer: null },
    { from: tier, to: work, kind: "due", label: "due: next attempt", consumer: null },
    { from: work, to: dead, kind: "dead", label: dies, consumer: null },
  ];
  const graph = { title: "the way of a message", nodes, edges };
  return `${(await renderSvg(graph)).trimEnd()}\n`;
}

async function pictureOf(priced: Priced): Promise<string> {
  const { planned, wanted } = systemOf(priced, ["billing"]);
  const { compile, graphOf } = brokerOf(wanted);
  const compiled = compile(planned, wanted);
  if (!compiled.ok) throw new Error(renderDiagnostics(compiled.diagnostics));
  return `${(await renderSvg(graphOf(compiled.value))).trimEnd()}\n`;
}
