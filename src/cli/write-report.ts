import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import { hasErrors } from "../diagnostics/diagnostic.ts";
import { plan } from "../plan/plan.ts";
import { renderDot } from "../report/dot.ts";
import { renderHtml } from "../report/html.ts";
import { renderMermaid } from "../report/mermaid.ts";
import { renderSvg } from "../report/svg.ts";
import { renderCompiledText, renderPlanText } from "../report/text.ts";
import { prove } from "../verify/compile.ts";
import type { CompiledFor } from "./commands.ts";

/**
 * Writes everything there is to see of a system into a folder: for each target its files and pictures, and one page
 * that shows it all.
 *
 * @returns the text for the terminal, and the files that were written
 * @throws where the folder cannot be written
 */
export async function writeReport(
  system: System,
  all: readonly CompiledFor[],
  folder: string,
): Promise<{ readonly text: string; readonly written: readonly string[] }> {
  const planned = plan(system);
  const colour = process.stdout.hasColors?.() ?? false;
  const sections = [renderPlanText(planned, { colour })];
  const reports = [];
  const written: string[] = [];
  const save = async (place: string, text: string): Promise<void> => {
    await writeFile(place, text.endsWith("\n") ? text : `${text}\n`);
    written.push(relative(process.cwd(), place));
  };
  for (const { target, value, warnings } of all) {
    const broker = brokerOf(target);
    const graph = broker.graphOf(value);
    const place = join(folder, value.target.replace("@", "-"));
    await mkdir(place, { recursive: true });
    for (const [name, write] of Object.entries(broker.exportFormats)) {
      // What a format cannot say is a refusal of that format alone: everything else is there to be seen.
      if (hasErrors(broker.diagnoseExport?.(value, name) ?? [])) continue;
      await save(join(place, `${name}.json`), JSON.stringify(write(value, broker.defaultNamespace), null, 2));
    }
    await save(join(place, "compiled.json"), JSON.stringify({ ...value, warnings }, null, 2));
    await save(join(place, "graph.mmd"), renderMermaid(graph));
    await save(join(place, "graph.dot"), renderDot(graph));
    await save(join(place, "graph.svg"), await renderSvg(graph));
    sections.push(renderCompiledText(value, planned, warnings, { colour }));
    const verdicts = prove(value, target);
    reports.push({ target: value.target, plan: planned, compiled: value, graph, warnings, verdicts });
  }
  await save(join(folder, "index.html"), await renderHtml({ title: system.name, reports }));
  const list = written.map((each) => `  ${each}`).join("\n");
  return { text: `${sections.join("\n")}\nWritten:\n${list}\n`, written };
}
