import type { ConsumerResult, Percentiles, SimulationResult, Timeline } from "../simulate/result.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { renderDepths } from "./simulation-chart.ts";
import { count } from "../contract/in-words.ts";
import { type Style, type TextOptions, indented, renderTable, styleOf, wrap } from "./text.ts";
import { visible } from "../diagnostics/visible.ts";

/**
 * Shows a simulation's result: the outcomes in numbers, the depth of the queues, the worst storm, and one message's
 * way.
 */
export function renderSimulation(target: string, result: SimulationResult, options: TextOptions = {}): string {
  const style = styleOf(options);
  const { consumers, timeline } = result;
  const title = style.paint("bold", `simulated on ${target}`);
  if (consumers.length === 0) return `${title}\nno consumer has a work queue: there is nothing to simulate\n`;
  const parts = [
    `${title}\n${heading(result, style)}`,
    renderTotals(consumers, style),
    renderTimes(consumers, style),
    result.consumers
      .flatMap((each) => [`${visible(each.consumer)}: ${deadSentence(each)}`, stormSentence(each)])
      .flatMap((sentence) => wrap(sentence, style.columns))
      .join("\n"),
    renderDepths(result, style),
    ...(timeline === null ? [] : [renderTimeline(timeline, style)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function heading({ durationMs, endedAtMs, isSettled, seed, events }: SimulationResult, style: Style): string {
  const end = isSettled
    ? `every message has ended after ${formatRoughMs(endedAtMs)}`
    : `given up after ${formatRoughMs(endedAtMs)}`;
  const line = `${formatDurationMs(durationMs)} of arrivals, ${end}; seed ${seed}, ${number(events)} events`;
  return wrap(line, style.columns).join("\n");
}

function renderTotals(consumers: readonly ConsumerResult[], style: Style): string {
  const rows = consumers.map(
    ({ consumer, published, succeeded, deadLettered, lost, left, deliveries, utilisation }) => [
      visible(consumer),
      number(published),
      number(succeeded),
      number(deadLettered.total),
      lost === 0 ? "0" : style.paint("red", number(lost)),
      number(left.inWorkQueue + left.withHandlers + left.waiting),
      number(deliveries),
      `${(utilisation * 100).toFixed(0)}%`,
    ],
  );
  const head = ["consumer", "published", "succeeded", "dead", "lost", "left", "deliveries", "busy"];
  return renderTable(head, rows, { colAligns: ["left", ...head.slice(1).map(() => "right" as const)] }, style);
}

function renderTimes(consumers: readonly ConsumerResult[], style: Style): string {
  const rows = consumers.flatMap(({ consumer, timeToSuccess, timeToDeadLetter }) => [
    ...timeRow(visible(consumer), "success", timeToSuccess),
    ...timeRow(visible(consumer), "dead queue", timeToDeadLetter),
  ]);
  if (rows.length === 0) return "no message has ended";
  const head = ["consumer", "time to", "p50", "p90", "p99", "longest"];
  return renderTable(head, rows, { colAligns: ["left", "left", "right", "right", "right", "right"] }, style);
}

function timeRow(consumer: string, end: string, percentiles: Percentiles | null): string[][] {
  if (percentiles === null) return [];
  const { p50Ms, p90Ms, p99Ms, maxMs } = percentiles;
  return [[consumer, end, ...[p50Ms, p90Ms, p99Ms, maxMs].map(formatRoughMs)]];
}

function deadSentence({ deadLettered, crashes }: ConsumerResult): string {
  const crashed = crashes === 0 ? "" : `; ${count(crashes, "crash", "crashes")} of an instance`;
  if (deadLettered.total === 0) return `no message is dead${crashed}`;
  const by = deadLettered.byAttempt.map(({ number: attempt, messages }) => `${number(messages)} on attempt ${attempt}`);
  const shown = by.length <= 6 ? by : [...by.slice(0, 3), "…", ...by.slice(-2)];
  const causes = deadLettered.byCause.map(
    ({ cause, messages }) => `${number(messages)} by ${causeWords[cause] ?? cause}`,
  );
  return `${number(deadLettered.total)} dead: ${shown.join(", ")} (${causes.join(", ")})${crashed}`;
}

const causeWords: Readonly<Record<string, string>> = {
  transient: "transient failure",
  permanent: "permanent failure",
  "retry-after": "transient failure with its own delay",
  return: "return",
};

function stormSentence({ storm }: ConsumerResult): string {
  if (storm === null) return "No message was delivered twice.";
  const { redeliveries, arrivals, fromMs, lengthMs } = storm;
  return `The worst retry storm: ${count(redeliveries, "redelivery", "redeliveries")} against ${count(arrivals, "arrival")} in the ${formatDurationMs(lengthMs)} after ${formatDurationMs(fromMs)}.`;
}

function renderTimeline({ consumer, message, steps }: Timeline, style: Style): string {
  const publishedAtMs = steps[0]?.atMs ?? 0;
  const title = `The message with the most deliveries: number ${message + 1} of ${visible(consumer)}, published at ${formatRoughMs(publishedAtMs)}`;
  // A delivery that the handler begins at once needs no line of its own.
  const told = steps.filter(
    ({ happened, atMs }, index) =>
      happened !== "delivery" || steps[index + 1]?.happened !== "begun" || steps[index + 1]?.atMs !== atMs,
  );
  const shown = told.length <= 40 ? told : [...told.slice(0, 30), null, ...told.slice(-9)];
  const rows = shown.map((step) =>
    step === null
      ? ["…", `${told.length - 39} more`, ""]
      : [
          `+${formatExactMs(step.atMs - publishedAtMs)}`,
          step.attempt === null
            ? happenedWords[step.happened]
            : `attempt ${step.attempt}: ${happenedWords[step.happened]}`,
          step.queue === null ? "acknowledged" : visible(step.queue),
        ],
  );
  const table = renderTable(
    ["after", "what happened", "then in"],
    rows,
    { colAligns: ["right", "left", "left"] },
    style,
  );
  return `${wrap(title, style.columns).join("\n")}\n${indented(table)}`;
}

const happenedWords = {
  published: "published",
  delivery: "delivered",
  begun: "the handler begins",
  success: "success",
  transient: "transient failure",
  "retry-after": "asks for a delay",
  permanent: "permanent failure",
  crash: "crash",
  return: "returned",
  time: "the wait is over",
} as const;

/** A number with separated thousands. */
export function number(value: number): string {
  return value.toLocaleString("en");
}

/** A duration for people: at least three digits, and no more than matter. */
export function formatRoughMs(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)}ms`;
  if (durationMs < 59_950) return `${(durationMs / 1_000).toFixed(durationMs < 9_995 ? 2 : 1)}s`;
  const roundMs = durationMs < 3_600_000 ? 1_000 : durationMs < 86_400_000 ? 60_000 : 3_600_000;
  return formatDurationMs(Math.round(durationMs / roundMs) * roundMs);
}

/** A duration to the millisecond: `15.042s`, `1m 2.5s`. */
function formatExactMs(durationMs: number): string {
  const rounded = Math.round(durationMs);
  const minutesMs = rounded - (rounded % 60_000);
  const seconds = `${((rounded - minutesMs) / 1_000).toFixed(3)}s`;
  return minutesMs === 0 ? seconds : `${formatDurationMs(minutesMs)} ${seconds}`;
}
