import type { Keeper, StrategyChoice } from "../brokers/broker.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ConsumerPlan, RetryPlan } from "../plan/plan.ts";
import { graphOfConsumer } from "./graph-layout.ts";
import type { Markup } from "./markup.ts";
import { markup, nothing, trusted } from "./markup.ts";
import { outcomeRows } from "./operations.ts";
import type { Contract, OperationLine, OutcomeCase, OutcomeRow } from "./operations.ts";
import { count, giveUpSentence, worstCaseMsOf, worstCaseOf } from "./sentences.ts";
import { renderSvg } from "./svg.ts";
import type { Anchors, TargetReport } from "./target-report.ts";
import { warningsOf } from "./target-report.ts";
import { renderTimeline } from "./timeline.ts";

/** Everything about one consumer on one target. */
export async function renderConsumer(
  reports: readonly TargetReport[],
  target: number,
  plan: ConsumerPlan,
  anchors: Anchors,
): Promise<Markup> {
  const report = reports[target];
  if (report === undefined) return nothing;
  const { consumer } = plan;
  const id = anchors.consumer(target, consumer);
  const choice = report.compiled.choices.find((each) => each.consumer === consumer);
  const contract = report.compiled.contracts.find((each) => each.consumer === consumer);
  const svg = await renderSvg(graphOfConsumer(report.graph, consumer));
  return markup`<article class="card" id="${id}">
<header><h2 data-consumer="${consumer}"><a href="#${id}">${consumer}</a></h2>${
    choice === undefined ? nothing : markup` <span class="strategy">${choice.strategy}</span>`
  }${renderElsewhere(reports, target, consumer, anchors)}</header>
${renderWarningList(warningsOf(report, consumer), `${id}--warnings`)}
${renderSchedule(plan, id, contract)}
<div class="columns">
<section id="${id}--strategy"><h3>Strategy</h3>${choice === undefined ? nothing : renderChoice(choice)}</section>
<section id="${id}--promises"><h3>Promises</h3>${renderPromises(report, consumer)}${renderProof(report, consumer)}</section>
</div>
<section id="${id}--topology"><h3>Topology</h3>${renderFigure(svg, `topology of ${consumer}`)}</section>
${contract === undefined ? nothing : markup`<section id="${id}--contract"><h3>Contract</h3>${renderContract(contract)}</section>`}
</article>`;
}

/** A drawn graph, that scrolls where the page is too narrow to read it, and what its colours mean. */
export function renderFigure(svg: string, name: string): Markup {
  const kinds = [
    ["publish", "published"],
    ["retry", "failed, to be retried"],
    ["due", "due again"],
    ["dead", "dead"],
  ].filter(([kind]) => svg.includes(`class="edge ${kind}"`));
  const keys = kinds.map(([kind, text]) => markup`<li class="${kind ?? ""}">${text ?? ""}</li>`);
  const width = /^<svg [^>]*?width="(\d+pt)"/.exec(svg)?.[1] ?? "0";
  return markup`<figure class="graph" style="--natural-width:${width}"><div class="scroll" tabindex="0" role="region" aria-label="${name}">${trusted(svg)}</div><figcaption><ul class="key">${keys}</ul></figcaption></figure>`;
}

/** Warnings, each with its fix; nothing where there are none. */
export function renderWarningList(warnings: readonly Diagnostic[], id: string): Markup {
  if (warnings.length === 0) return nothing;
  const items = warnings.map(
    ({ code, message, path, notes, help }) =>
      markup`<li><b>${code}</b> ${message}${
        path === "" ? nothing : markup` <code>${path}</code>`
      }${notes.map((note) => markup`<p>${note}</p>`)}${help === undefined ? nothing : markup`<p><b>Fix</b> ${help}</p>`}</li>`,
  );
  return markup`<section class="warnings" id="${id}"><h3>${count(warnings.length, "warning")}</h3><ul>${items}</ul></section>`;
}

/** Who keeps a promise, in a colour and in a word. */
export function renderKeeper(keeper: Keeper, text: string = keeper): Markup {
  return markup`<span class="keeper ${keeper}">${text}</span>`;
}

/** What the promises rest on; nothing for a consumer that has none. */
function renderProof(report: TargetReport, consumer: string): Markup {
  const verdict = report.verdicts.find((each) => each.consumer === consumer);
  if (verdict === undefined) return nothing;
  const { states, deliveries } = verdict;
  return markup`<p class="proof">Proved for each of the ${count(states, "state")} that one message can be in: ${count(deliveries, "delivery", "deliveries")} at most.</p>`;
}

function renderElsewhere(reports: readonly TargetReport[], target: number, consumer: string, anchors: Anchors): Markup {
  const links = reports.flatMap((report, index) =>
    index === target || anchors.consumer(index, consumer) === ""
      ? []
      : [markup` <a href="#${anchors.consumer(index, consumer)}">on ${report.target}</a>`],
  );
  return links.length === 0 ? nothing : markup`<span class="elsewhere">${links}</span>`;
}

function renderSchedule(plan: ConsumerPlan, id: string, contract: Contract | undefined): Markup {
  const origin = Object.entries(plan.from).map(
    ([source, keys]) =>
      markup`<dd><b>${source}</b> ${
        keys === "all" ? "all messages" : keys.map((key) => markup`<code>${key}</code> `)
      }</dd>`,
  );
  const from = markup`<div class="wide"><dt>takes</dt>${origin}</div>`;
  const { retry } = plan;
  if (retry === null) {
    return markup`<section id="${id}--schedule"><h3>Schedule</h3><dl class="facts">${from}</dl><p class="note">Every instance gets its own copy of each message. Nothing is retried.</p></section>`;
  }
  return markup`<section id="${id}--schedule"><h3>Schedule</h3>
<dl class="facts">${from}${factsOf(plan, retry, contract).map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
<div class="scroll" tabindex="0" role="region" aria-label="timeline of ${plan.consumer}">${renderTimeline(plan, retry, contract)}</div>
<p class="note">Below each attempt: the earliest time after the first delivery at which it is due${
    retry.jitterPercent === 0 ? "" : ", and with all of the jitter"
  }. The distance between two attempts grows with the logarithm of the delay.${notesOf(plan, retry, contract).join("")}</p></section>`;
}

function factsOf(
  plan: ConsumerPlan,
  retry: RetryPlan,
  contract: Contract | undefined,
): readonly (readonly [string, string])[] {
  return [
    ["attempts", String(retry.attempts.length)],
    ["to the dead queue", worstCaseOf(plan, retry, contract)],
    ["deliveries", `≤ ${contract?.maxDeliveries ?? retry.maxDeliveries}`],
    ["crash budget", String(retry.crashDeliveries)],
    ["handler timeout", plan.handlerTimeoutMs === null ? "none" : formatDurationMs(plan.handlerTimeoutMs)],
    ...(retry.permanentErrors.length === 0 ? [] : [["permanent errors", retry.permanentErrors.join(", ")] as const]),
    ...(retry.retainMs === null ? [] : [["dead letters kept", formatDurationMs(retry.retainMs)] as const]),
    ...(retry.alarmAbove === null ? [] : [["alarm above", String(retry.alarmAbove)] as const]),
  ];
}

function notesOf(plan: ConsumerPlan, retry: RetryPlan, contract: Contract | undefined): readonly string[] {
  return [
    ...(!worstCaseMsOf(plan, retry, contract).isBounded
      ? [" No handler timeout is declared, so the time of the handlers comes on top."]
      : []),
    ...(retry.giveUpAfter === null ? [] : [` Given up: ${giveUpSentence(retry, retry.giveUpAfter)}.`]),
    ...(retry.retryAfterMaxMs === null
      ? []
      : [` A handler may ask for a delay of its own, up to ${formatDurationMs(retry.retryAfterMaxMs)}.`]),
  ];
}

function renderChoice({ strategy, reason, passedOver }: StrategyChoice): Markup {
  const others = passedOver.map((each) => markup`<dt>${each.strategy}</dt><dd>${each.reason}</dd>`);
  return markup`<p><span class="strategy">${strategy}</span> ${reason}</p>${
    others.length === 0 ? nothing : markup`<h4>Passed over</h4><dl class="passed-over">${others}</dl>`
  }`;
}

function renderPromises(report: TargetReport, consumer: string): Markup {
  const rows = report.compiled.promises
    .filter((each) => each.consumer === consumer)
    .map(
      ({ promise, keeper, statement }) =>
        markup`<tr><th scope="row">${promise}</th><td>${renderKeeper(keeper)}</td><td>${statement}</td></tr>`,
    );
  return markup`<table class="promises"><thead><tr><th>promise</th><th>kept by</th><th>what is kept</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function renderContract(contract: Contract): Markup {
  const all = outcomeRows(contract);
  const rows = all
    .filter(({ asked }) => asked === null)
    .map(
      ({ outcome, cases, why }) =>
        markup`<tr><th scope="row">${outcome}</th><td>${cases.map(renderCase)}</td><td>${why ?? ""}</td></tr>${
          outcome === "transient" ? renderAsked(all.filter(({ asked }) => asked !== null)) : nothing
        }`,
    );
  return markup`<table class="contract"><thead><tr><th>outcome</th><th>what the consumer does</th><th>why</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** What to do when a handler asks for a delay of its own: one row, however many steps it has. */
function renderAsked(rows: readonly OutcomeRow[]): Markup {
  const [first] = rows;
  if (first === undefined) return nothing;
  const steps = rows.map(
    ({ asked, cases }) => markup`<details><summary>${asked ?? ""}</summary>${cases.map(renderCase)}</details>`,
  );
  return markup`<tr><th scope="row">${first.outcome}</th><td>${steps}</td><td>a delay that the handler asks for: the first step that is not below it</td></tr>`;
}

function renderCase({ attempts, operations }: OutcomeCase): Markup {
  const lines = operations.map(renderOperation);
  const list =
    lines.length === 1 ? markup`<p>${lines}</p>` : markup`<ol>${lines.map((line) => markup`<li>${line}</li>`)}</ol>`;
  return attempts === null
    ? list
    : markup`<details><summary>${attempts}: ${operations.map(({ name }) => name).join(", then ")}</summary>${list}</details>`;
}

function renderOperation({ name, flags }: OperationLine): Markup {
  return markup`<code class="operation">${name}</code>${flags.map((flag) => markup` <span class="flag">${flag}</span>`)}`;
}
