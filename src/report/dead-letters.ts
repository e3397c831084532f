import { count } from "../contract/in-words.ts";
import { visible } from "../diagnostics/visible.ts";
import type { LetterFacts } from "../operate/facts.ts";
import type { Groups } from "../operate/groups.ts";
import { historyOf } from "../operate/history.ts";
import { type Letter, isTable } from "../operate/letter.ts";
import type { Looked } from "../operate/port.ts";
import { renderTable, styleOf } from "./text.ts";

type LookedFor = Looked & { readonly matched: number };

/** The most bytes of a body that are shown to a person. */
const shownBytes = 4_096;

/** Each has two lines, and a screen has about 40. */
const mostGroups = 16;

/** The columns of a table, for a terminal of 100 columns. */
const style = styleOf({});

/** Lists letters, one a line. */
export function renderLetters(
  queue: string,
  looked: LookedFor,
  letters: readonly LetterFacts[],
  about: string,
): string {
  const rows = letters.map((each) => [
    String(each.position),
    short(each.diedAt, 24),
    short(each.reason, 20),
    short(each.type, 16),
    short(each.messageId, 36),
    short(each.error, 60),
  ]);
  const table = renderTable(["at", "died", "reason", "type", "message id", "error"], rows, {}, style);
  return `${table}\n${endOf(queue, looked, about)}`;
}

/** Lists groups, the largest first, as many as a screen shows. */
export function renderGroups(queue: string, looked: LookedFor, { groups, others }: Groups, about: string): string {
  const shown = groups.slice(0, mostGroups);
  const rows = shown.map((each) => [
    each.id,
    String(each.count),
    short(each.reason, 20),
    short(each.type, 16),
    short(each.error, 50),
    `${toSecond(each.firstAt)}\n${toSecond(each.lastAt)}`,
    short(each.sample, 36),
  ]);
  const head = ["group", "letters", "reason", "type", "error", "first, last", "one of them"];
  const rest = groups.slice(shown.length).reduce((sum, group) => sum + group.count, others);
  const more = rest === 0 ? "" : `${count(rest, "letter")} died of further causes: --json shows more\n`;
  return `${renderTable(head, rows, {}, style)}\n${more}${endOf(queue, looked, about)}`;
}

export function renderLetter(letter: Letter, facts: LetterFacts): string {
  const { headers, properties, body, exchange, routingKey } = letter;
  const told = Object.entries(facts).filter(([, value]) => value !== null);
  const text = Buffer.from(body.subarray(0, shownBytes)).toString();
  const isText = !text.slice(0, -1).includes("\uFFFD");
  const cut = body.length > shownBytes ? ` (the first ${shownBytes} of ${body.length} bytes)` : "";
  const course = courseOf(letter);
  return [
    ...lines(told),
    ...(course.length === 0 ? [] : ["", "course, the latest first", ...lines(course)]),
    "",
    "properties",
    ...lines([["exchange", exchange], ["routing key", routingKey], ...Object.entries(properties)]),
    "",
    "headers",
    ...lines(Object.entries(headers).map(([name, value]) => [name, JSON.stringify(value)])),
    "",
    `body${cut}`,
    isText ? text : Buffer.from(body.subarray(0, shownBytes)).toString("base64"),
    "",
  ].join("\n");
}

/** What happened to a letter: its redrives and moves by people, and the deaths that the broker recorded. */
function courseOf({ headers }: Letter): readonly (readonly [string, string])[] {
  const moves = historyOf({ headers }).map(({ generation, at, redrive, reason, did, by, why }) => {
    const done = did ?? `sent again, generation ${generation}`;
    const person = by === undefined ? "" : ` by ${by}`;
    const because = why === undefined ? "" : `: ${why}`;
    return [at, `${done}${person}${because} (${redrive}), after ${reason ?? "an unknown reason"}`] as const;
  });
  return [...deathsOf(headers["x-death"]), ...moves];
}

/** RabbitMQ's own records. Their times are those of the first death in each queue. */
function deathsOf(deaths: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(deaths)) return [];
  return deaths.filter(isTable).map(({ queue, reason, count: times, time }) => {
    const seconds = isTable(time) ? Number(time["value"]) : Number.NaN;
    const at = Number.isNaN(seconds) ? "–" : new Date(1_000 * seconds).toISOString();
    return [
      at,
      `left ${String(queue)} ${typeof times === "number" ? count(times, "time") : `${String(times)} times`}: ${String(reason)}`,
    ] as const;
  });
}

function lines(pairs: readonly (readonly [string, unknown] | readonly string[])[]): string[] {
  const width = Math.max(0, ...pairs.map(([name = ""]) => name.length));
  return pairs.map(([name = "", value]) => `  ${visible(name).padEnd(width)}  ${visible(String(value))}`);
}

function endOf(queue: string, { ready, seen, matched, isWhole }: LookedFor, about: string): string {
  const missed = isWhole ? "" : ", and not all came";
  return [
    `${visible(queue)}: ${matched} of ${count(seen, "letter")} fit, and the queue had ${ready}${missed}`,
    about,
    "",
  ].join("\n");
}

/** The date and the time without fractions: the first 19 characters of ISO 8601. */
const toSecond = (at: string | null): string => short(at?.slice(0, 19) ?? null, 19);

function short(text: string | null, most: number): string {
  if (text === null) return "–";
  const shown = visible(text);
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
}
