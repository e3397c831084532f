import type { ConsumerPlan } from "../plan/plan.ts";
import { renderCodes } from "./html-codes.ts";
import { renderFigure, renderKeeper, renderWarningList } from "./html-consumer.ts";
import { consumersOf, ofConsumers, onTarget, renderFilter } from "./html-filter.ts";
import { renderConsumers } from "./html-parts.ts";
import { htmlStyle } from "./html-style.ts";
import { type Markup, markup, nothing, trusted } from "./markup.ts";
import { count } from "../contract/in-words.ts";
import { resourcesOf } from "../compile/budget.ts";
import { costTable } from "./costs.ts";
import { delaysOf, worstCaseOf } from "./sentences.ts";
import { isReadable, renderSvg } from "./svg.ts";
import { type Anchors, type TargetReport, anchorsOf, warningsOf } from "./target-report.ts";

export type { TargetReport } from "./target-report.ts";

/**
 * Writes one page about a system on one or several targets. The page loads nothing and runs no script, and tells the
 * browser so.
 *
 * @returns an HTML document, with the same bytes for the same input
 */
export async function renderHtml(input: {
  readonly title: string;
  readonly reports: readonly TargetReport[];
}): Promise<string> {
  const html = await renderPage(input.title, input.reports, false);
  // A larger page is slow to open, and many programs for mail and chat do not show it.
  return Buffer.byteLength(html) < 2_000_000 ? html : renderPage(input.title, input.reports, true);
}

async function renderPage(title: string, reports: readonly TargetReport[], isBrief: boolean): Promise<string> {
  const anchors = anchorsOf(reports);
  const targets: Markup[] = [];
  for (const [target, report] of reports.entries()) {
    const consumers = await renderConsumers(reports, target, anchors, isBrief);
    targets.push(await renderTarget(report, target, anchors.target(target), consumers));
  }
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="description" content="How each consumer of this system retries, and who keeps each promise">
<title>${title}</title>
<style>${trusted(htmlStyle)}</style>
</head>
<body>
<div class="page">
${renderNavigation(title, reports, anchors)}
<main>
${renderSummary(title, reports, anchors)}
${targets}
${renderCodes(reports.flatMap(({ warnings }) => warnings))}
</main>
</div>
</body>
</html>
`.markup;
}

function renderNavigation(title: string, reports: readonly TargetReport[], anchors: Anchors): Markup {
  const all = consumersOf(reports);
  const groups = reports.map(
    ({ target, plan }, index) =>
      markup`<li${onTarget(index)}><a class="target" href="#${anchors.target(index)}">${target}</a><ul>${plan.consumers.map(
        ({ consumer }) =>
          markup`<li${ofConsumers(all, [consumer])}><a href="#${anchors.consumer(index, consumer)}">${consumer}</a></li>`,
      )}</ul></li>`,
  );
  return markup`<nav aria-label="sections"><a class="home" href="#summary">${title}</a>${renderFilter(reports)}<ul>${groups}</ul></nav>`;
}

function renderSummary(title: string, reports: readonly TargetReport[], anchors: Anchors): Markup {
  const plans = new Map<string, ConsumerPlan>();
  for (const { plan } of reports)
    for (const each of plan.consumers) if (!plans.has(each.consumer)) plans.set(each.consumer, each);
  const sources = new Set(reports.flatMap(({ plan }) => Object.keys(plan.sources)));
  const heads = reports.map(
    ({ target }, index) =>
      markup`<th scope="col"${onTarget(index)}><a href="#${anchors.target(index)}">${target}</a></th>`,
  );
  const rows = [...plans.values()].map((plan) => renderSummaryRow(plan, reports, anchors));
  return markup`<section id="summary" class="summary">
<h1>${title}</h1>
<p class="lead">${count(plans.size, "consumer")} of ${count(sources.size, "source")}, on ${count(reports.length, "target")}. How each consumer's messages fail, and who keeps which promise: the ${renderKeeper("broker")}, the ${renderKeeper("consumer")}'s code, or ${renderKeeper("nobody")}.</p>
<div class="scroll" tabindex="0" role="region" aria-label="overview"><table class="overview"><caption>Each consumer's schedule, and on each target its strategy and the number of promises that each side keeps</caption><thead><tr><th scope="col">consumer</th><th scope="col">attempts</th><th scope="col">delays</th><th scope="col">to the dead queue</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>
</section>`;
}

function renderSummaryRow(plan: ConsumerPlan, reports: readonly TargetReport[], anchors: Anchors): Markup {
  const { consumer, retry } = plan;
  const first = reports.findIndex((_, index) => anchors.consumer(index, consumer) !== "");
  const cells = reports.map((report, index) => {
    const choice = report.compiled.choices.find((each) => each.consumer === consumer);
    if (choice === undefined) return markup`<td${onTarget(index)} data-label="${report.target}">–</td>`;
    return markup`<td${onTarget(index)} data-label="${report.target}"><a class="strategy" href="#${anchors.consumer(index, consumer)}">${choice.strategy}</a>${renderTally(report, consumer)}</td>`;
  });
  const worst = reports.flatMap(({ compiled, target }) => {
    const contract = compiled.contracts.find((each) => each.consumer === consumer);
    return retry === null || contract === undefined ? [] : [[worstCaseOf(plan, retry, contract), target] as const];
  });
  const times = new Map(worst);
  const inWords = times.size > 1 ? worst.map((each) => each.join(" on ")) : [...times.keys()];
  const schedule =
    retry === null
      ? markup`<td data-label="attempts">1</td><td data-label="delays">no retry</td><td data-label="to the dead queue">never</td>`
      : markup`<td data-label="attempts">${retry.attempts.length}</td><td data-label="delays">${delaysOf(retry)}</td><td data-label="to the dead queue">${inWords.join(", ")}</td>`;
  return markup`<tr${ofConsumers(consumersOf(reports), [consumer])}><th scope="row"><a href="#${anchors.consumer(first, consumer)}">${consumer}</a></th>${schedule}${cells}</tr>`;
}

/** The number of promises that each keeper keeps, and the number of warnings. */
function renderTally(report: TargetReport, consumer: string): Markup {
  const promises = report.compiled.promises.filter((each) => each.consumer === consumer);
  const tallies = (["broker", "consumer", "nobody"] as const).flatMap((keeper) => {
    const kept = promises.filter((each) => each.keeper === keeper);
    return kept.length === 0 ? [] : [renderKeeper(keeper, `${keeper} keeps ${kept.length}`)];
  });
  const warnings = warningsOf(report, consumer).length;
  return markup`<span class="tally">${tallies}${warnings === 0 ? nothing : markup`<span class="warned">${count(warnings, "warning")}</span>`}</span>`;
}

async function renderTarget(report: TargetReport, target: number, id: string, consumers: Markup): Promise<Markup> {
  const resources = Object.entries(resourcesOf(report.compiled)).map(
    ([kind, number]) => markup`<div><dt>${kind}</dt><dd>${number}</dd></div>`,
  );
  return markup`<section class="target" id="${id}"${onTarget(target)}>
<h2 class="target">${report.target}</h2>
<dl class="facts">${resources}<div><dt>warnings</dt><dd>${report.warnings.length}</dd></div></dl>
${renderWarningList(warningsOf(report, null), `${id}--warnings`, "h3")}
${renderCosts(report)}
<details class="whole"><summary>The whole topology</summary>${await renderWhole(report)}</details>
${consumers}
</section>`;
}

async function renderWhole({ plan, graph, target }: TargetReport): Promise<Markup> {
  if (isReadable(graph)) return renderFigure(await renderSvg(graph), `topology on ${target}`);
  return markup`<p><a href="${target.replace("@", "-")}/graph.svg">The pictures of ${plan.consumers.length} consumers</a> are in a file of their own.</p>`;
}

function renderCosts({ target, costs }: TargetReport): Markup {
  const { head, rows } = costTable(costs);
  const cells = rows.map(([strategy = "", ...rest]) => {
    const numbers = rest.map((each, index) => markup`<td data-label="${head[index + 1] ?? ""}">${each}</td>`);
    return markup`<tr><th scope="row">${strategy}</th>${numbers}</tr>`;
  });
  return markup`<details class="costs"><summary>The resources under each strategy</summary><div class="scroll" tabindex="0" role="region" aria-label="costs on ${target}"><table><caption>The number of resources of each kind under each strategy</caption><thead><tr>${head.map((each) => markup`<th scope="col">${each}</th>`)}</tr></thead><tbody>${cells}</tbody></table></div></details>`;
}
