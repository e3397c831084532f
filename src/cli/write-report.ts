import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { brokerOf } from "../brokers/index.ts";
import { hasErrors } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";
import { costTable, costsByStrategy } from "../report/costs.ts";
import { renderDot } from "../report/dot.ts";
import { renderHtml } from "../report/html.ts";
import { renderMermaid } from "../report/mermaid.ts";
import { renderSvg } from "../report/svg.ts";
import { renderCompiledText, renderCostsText, renderPlanText } from "../report/text.ts";
import type { ProvedFile } from "./commands.ts";
import { tell } from "./load-declaration.ts";
import { paintOn, shown } from "./output.ts";
import { writeWhole } from "./write-file.ts";

/**
 * Writes the whole report on a system into a folder: for each target its files and pictures, and one page that shows
 * all.
 *
 * @returns the text for the terminal, and the written files
 * @throws UnwritableError if the folder cannot be written
 */
export async function writeReport(plan: Plan, all: readonly ProvedFile[], folder: string) {
  const colour = paintOn(process.stdout);
  // Nobody reads more on a terminal, and the page has it.
  const printed = plan.consumers.length <= 50 ? plan : { ...plan, consumers: [] };
  const sections = printed === plan ? [renderPlanText(plan, { colour })] : [];
  const reports = [];
  const written: string[] = [];
  const save = async (place: string, value: unknown): Promise<void> => {
    await writeWhole(place, shown(value));
    written.push(relative(process.cwd(), place));
  };
  for (const { target, compiled, verdicts, warnings, kept } of all) {
    const broker = brokerOf(target);
    const graph = broker.graphOf(compiled);
    const place = join(folder, compiled.target.replace("@", "-"));
    tell({ kind: "working", on: `the pictures for ${compiled.target}` });
    for (const [name, write] of Object.entries(broker.exportFormats)) {
      // If a format cannot express the system, only that format is refused. All other files are still written.
      if (hasErrors(broker.diagnoseExport?.(compiled, name) ?? [])) continue;
      await save(join(place, `${name}.json`), write(compiled, broker.defaultNamespace));
    }
    await save(join(place, "compiled.json"), { ...compiled, warnings });
    await save(join(place, "graph.mmd"), renderMermaid(graph));
    await save(join(place, "graph.dot"), renderDot(graph));
    await save(join(place, "graph.svg"), await renderSvg(graph));
    const costs = costsByStrategy(plan, target, kept);
    sections.push(renderCompiledText(compiled, printed, warnings, { colour }));
    sections.push(renderCostsText(compiled.target, costTable(costs), { colour }));
    reports.push({ target: compiled.target, plan, compiled, graph, warnings, verdicts, costs });
  }
  tell({ kind: "working", on: "the page of the report" });
  await save(join(folder, "index.html"), await renderHtml({ title: plan.system, reports }));
  const list = written.map((each) => `  ${each}`).join("\n");
  const page = pathToFileURL(resolve(folder, "index.html")).href;
  return { text: `${sections.join("\n")}\nWritten:\n${list}\n\nopen ${page}\n`, written };
}
