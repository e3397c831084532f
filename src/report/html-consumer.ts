import type { Keeper } from "../contract/promise.ts";
import type { StrategyChoice } from "../contract/choose-strategy.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type ConsumerPlan, chosenText, isDirect, type RetryPlan } from "../plan/plan.ts";
import { graphOfConsumer, nameless, shapeOf } from "./graph-layout.ts";
import { type Markup, markup, nothing, trusted } from "./markup.ts";
import { consumersOf, ofConsumers, onTarget } from "./html-filter.ts";
import { type Contract, type OperationLine, type OutcomeCase, type OutcomeRow, outcomeRows } from "./operations.ts";
import { count } from "../contract/in-words.ts";
import { directly, giveUpSentence, worstCaseMsOf, worstCaseOf } from "./sentences.ts";
import { renderSvg } from "./svg.ts";
import { type Anchors, type TargetReport, warningsOf } from "./target-report.ts";
import { renderTimeline } from "./timeline.ts";
import { wayOf } from "./way.ts";

export function renderCard(
  reports: readonly TargetReport[],
  target: number,
  consumer: string,
  anchors: Anchors,
  sections: readonly Markup[],
): Markup {
  const report = reports[target];
  const plan = report?.plan.consumers.find((each) => each.consumer === consumer);
  if (report === undefined || plan === undefined) return nothing;
  const id = anchors.consumer(target, consumer);
  const choice = report.compiled.choices.find((each) => each.consumer === consumer);
  const all = consumersOf(reports);
  const isOpen = reports.length * all.length <= mostOpenCards;
  return markup`<article class="card"${ofConsumers(all, [consumer])}><details${trusted(isOpen ? " open" : "")}>
<summary><h3 data-consumer="${consumer}">${consumer}</h3>${
    choice === undefined ? nothing : markup` <span class="strategy">${choice.strategy}</span>`
  }</summary>
<div class="body" id="${id}">${renderElsewhere(reports, target, consumer, anchors)}
${renderOrigin(plan)}${renderWarningList(warningsOf(report, consumer), `${id}--warnings`, "h4")}
${sections}
</div></details></article>`;
}

/** A page with more cards starts with closed ones. A link into a card opens it. */
const mostOpenCards = 12;

/** A section of a card. */
export interface Part {
  readonly title: "Schedule" | "Strategy" | "Promises" | "Topology" | "Contract";
  readonly consumer: string;
  /** Equal for the same part of consumers that differ in their names only, and in what they take. */
  readonly key: string;
  readonly content: Markup;
  /** Draws the picture that says the same as the content. */
  readonly draw?: () => Promise<Markup>;
}

export function partsOf(report: TargetReport, plan: ConsumerPlan): readonly Part[] {
  const { consumer } = plan;
  const choice = report.compiled.choices.find((each) => each.consumer === consumer);
  const contract = report.compiled.contracts.find((each) => each.consumer === consumer);
  const graph = graphOfConsumer(report.graph, consumer);
  const name = `topology of ${consumer} on ${report.target}`;
  const part = (title: Part["title"], content: Markup, key = content.markup): Part => {
    return { title, consumer, content, key: `${title} ${nameless(key, consumer)}` };
  };
  return [
    part("Schedule", renderSchedule(plan, report.target, contract)),
    part("Strategy", choice === undefined ? nothing : renderChoice(choice)),
    part("Promises", markup`${renderPromises(report, consumer)}${renderProof(report, consumer)}`),
    {
      ...part("Topology", markup`<p>${wayOf(graph)}</p>`, shapeOf(graph, consumer)),
      draw: async () => renderFigure(await renderSvg(graph), name),
    },
    ...(contract === undefined ? [] : [part("Contract", renderContract(contract))]),
  ];
}

/** A drawn graph with a key to its colours. It scrolls if the page is too narrow to read it. */
export function renderFigure(svg: string, name: string): Markup {
  const kinds = [
    ["publish", "published"],
    ["retry", "failed, to be retried"],
    ["due", "due again"],
    ["dead", "dead"],
  ].filter(([kind]) => svg.includes(`class="edge ${kind}"`));
  const keys = kinds.map(([kind, text]) => markup`<li class="${kind ?? ""}">${text ?? ""}</li>`);
  const widthPx = (Number(/^<svg [^>]*?width="(\d+)pt"/.exec(svg)?.[1] ?? "0") * 4) / 3;
  const size = widthPx > 608 ? "wide" : widthPx > 320 ? "medium" : "small";
  return markup`<figure class="graph ${size}"><div class="scroll" tabindex="0" role="region" aria-label="${name}">${trusted(uncoloured(svg))}</div><figcaption><p class="hint">Scroll the picture sideways to see all of it.</p><ul class="key">${keys}</ul></figcaption></figure>`;
}

/** The style sheet of the page gives fonts and colours. Without them in each element, the page is a third smaller. */
function uncoloured(svg: string): string {
  return svg.replaceAll(/ (?:fill|stroke|font-family|xml:space|text-anchor)="(?!none|middle|end)[^"]*"/g, "");
}

/** Warnings, each with its fix. Empty without warnings. */
export function renderWarningList(warnings: readonly Diagnostic[], id: string, heading: "h3" | "h4"): Markup {
  if (warnings.length === 0) return nothing;
  const items = warnings.map(
    ({ code, message, path, notes, help }) =>
      markup`<li><a href="#${code.toLowerCase()}">${code}</a> ${message}${
        path === "" ? nothing : markup` <code>${path}</code>`
      }${notes.map((note) => markup`<p>${note}</p>`)}${help === undefined ? nothing : markup`<p><b>Fix</b> ${help}</p>`}</li>`,
  );
  return markup`<section class="warnings" id="${id}"><${trusted(heading)}>${count(warnings.length, "warning")}</${trusted(heading)}><ul>${items}</ul></section>`;
}

/** The keeper of a promise, as a colour and a word. */
export function renderKeeper(keeper: Keeper, text: string = keeper): Markup {
  return markup`<span class="keeper ${keeper}">${text}</span>`;
}

/** The evidence for the promises. Empty for a consumer without any. */
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
      : [markup` <a${onTarget(index)} href="#${anchors.consumer(index, consumer)}">on ${report.target}</a>`],
  );
  return links.length === 0 ? nothing : markup`<p class="elsewhere">${consumer} ${links}</p>`;
}

function renderOrigin(plan: ConsumerPlan): Markup {
  const origin = Object.entries(plan.from).map(
    ([source, keys]) =>
      markup`<dd><b>${source}</b> ${
        chosenText(plan, source) ?? (keys === "all" ? "all messages" : keys.map((key) => markup`<code>${key}</code> `))
      }</dd>`,
  );
  return markup`<dl class="facts"><div class="wide"><dt>takes</dt>${isDirect(plan) ? markup`<dd>${directly}</dd>` : origin}</div></dl>`;
}

function renderSchedule(plan: ConsumerPlan, target: string, contract: Contract | undefined): Markup {
  const { retry } = plan;
  if (retry === null)
    return markup`<p class="note">Every instance gets its own copy of each message. Nothing is retried.</p>`;
  return markup`<dl class="facts">${factsOf(plan, retry, contract).map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
<figure class="strip"><div class="scroll" tabindex="0" role="region" aria-label="timeline of ${plan.consumer} on ${target}">${renderTimeline(plan, retry, contract)}</div><p class="hint">Scroll the timeline sideways to see all of it.</p></figure>
<p class="note">Below each attempt: the earliest time after the first delivery at which it is due${
    retry.jitterPercent === 0 ? "" : ", and with all of the jitter"
  }. The distance between two attempts grows with the logarithm of the delay.${notesOf(plan, retry, contract).join("")}</p>`;
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
      ? [" No handler timeout is declared, so add the time of the handlers."]
      : []),
    ...(retry.giveUpAfter === null ? [] : [` Given up: ${giveUpSentence(retry, retry.giveUpAfter)}.`]),
    ...(retry.retryAfterMaxMs === null
      ? []
      : [` A handler may ask for its own delay, up to ${formatDurationMs(retry.retryAfterMaxMs)}.`]),
  ];
}

function renderChoice({ strategy, reason, passedOver }: StrategyChoice): Markup {
  const others = passedOver.map((each) => markup`<dt>${each.strategy}</dt><dd>${each.reason}</dd>`);
  return markup`<p><span class="strategy">${strategy}</span> ${reason}</p>${
    others.length === 0 ? nothing : markup`<h5>Passed over</h5><dl class="passed-over">${others}</dl>`
  }`;
}

function renderPromises(report: TargetReport, consumer: string): Markup {
  const rows = report.compiled.promises
    .filter((each) => each.consumer === consumer)
    .map(
      ({ promise, keeper, statement }) =>
        markup`<tr><th scope="row">${promise}</th><td>${renderKeeper(keeper)}</td><td>${statement}</td></tr>`,
    );
  return markup`<table class="promises"><caption>Each promise, and who keeps it</caption><thead><tr><th scope="col">promise</th><th scope="col">kept by</th><th scope="col">statement</th></tr></thead><tbody>${rows}</tbody></table>`;
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
  return markup`<table class="contract"><caption>The operations of the consumer's code for each outcome</caption><thead><tr><th scope="col">outcome</th><th scope="col">the consumer's operations</th><th scope="col">why</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** The operations for a delay that a handler asks for: one row for any number of steps. */
function renderAsked(rows: readonly OutcomeRow[]): Markup {
  const [first] = rows;
  if (first === undefined) return nothing;
  const steps = rows.map(
    ({ asked, cases }) => markup`<details><summary>${asked ?? ""}</summary>${cases.map(renderCase)}</details>`,
  );
  return markup`<tr><th scope="row">${first.outcome}</th><td>${steps}</td><td>a delay that the handler asks for: the first step that is at least as long</td></tr>`;
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
