import { durationPattern, parseDurationMs } from "../declare/duration.ts";
import type { LetterFacts } from "./facts.ts";
import { type Groups, createGrouping, groupIdOf } from "./groups.ts";
import type { Letter } from "./letter.ts";
import { jsonIn } from "../foreign/parse-json.ts";

/** A choice of letters, as a person writes it. A letter has to fit all of it. */
export interface FilterInput {
  /** The `id` of a group. */
  readonly group?: string | undefined;
  /** The code of the reason, such as `PERMANENT_FAILURE`. */
  readonly reason?: string | undefined;
  /** A part of the error's text, in any case. */
  readonly error?: string | undefined;
  /** The type of the message, as its publisher names it. */
  readonly type?: string | undefined;
  /** The queue that it died in, or the service in the consumer's own description. */
  readonly failedIn?: string | undefined;
  /** Died at this time or later: ISO 8601, or a duration before now. */
  readonly from?: string | undefined;
  /** Died before this time. */
  readonly to?: string | undefined;
  /** The publisher's routing key. `*` stands for any text. */
  readonly routingKey?: string | undefined;
  /** `name` or `name=value`. */
  readonly header?: readonly string[] | undefined;
  /** `path` or `path=value` in a JSON body, such as `order.lines.0.sku=A1`. */
  readonly body?: readonly string[] | undefined;
  /** The number of times that it was sent again, as a whole number. */
  readonly generation?: string | undefined;
  /** The id of the last redrive that sent it. */
  readonly redrive?: string | undefined;
}

export interface Filter {
  readonly matches: (letter: Letter, facts: LetterFacts) => boolean;
  /** True if it takes every letter. */
  readonly isAll: boolean;
  /** A sentence if letters have been judged and none was in the group that is asked for. Null otherwise. */
  readonly missed: () => string | null;
}

type Test = (letter: Letter, facts: LetterFacts) => boolean;

/**
 * Reads a filter.
 *
 * @param nowMs the time that durations count back from
 * @returns the filter, or a sentence about the part that is none
 */
export function parseFilter(input: FilterInput, nowMs: number): Filter | { readonly problem: string } {
  const problems: string[] = [];
  const tests = [...textTests(input), ...timeTests(input, nowMs, problems), ...pairTests(input, problems)];
  const { generation } = input;
  if (generation !== undefined) {
    if (!/^\d{1,6}$/.test(generation)) problems.push(`${JSON.stringify(generation)} is no generation: a whole number`);
    tests.push((_, facts) => facts.generation === Number(generation));
  }
  const [problem] = problems;
  if (problem !== undefined) return { problem };
  const grouping = input.group === undefined ? null : createGrouping();
  return {
    isAll: tests.length === 0,
    matches: (letter, facts) => {
      grouping?.add(facts);
      return tests.every((test) => test(letter, facts));
    },
    missed: () => (grouping === null ? null : missedIn(grouping.result(), input.group)),
  };
}

/** The groups that a sentence names. */
const mostNamed = 5;

function missedIn({ groups, others }: Groups, group: string | undefined): string | null {
  if (groups.length === 0 || others > 0 || groups.some(({ id }) => id === group)) return null;
  const names = groups.slice(0, mostNamed).map(({ id, count }) => `${id} with ${count}`);
  const more = groups.length > mostNamed ? ", …" : "";
  return `no letter is in the group ${JSON.stringify(group)}; the groups are ${names.join(", ")}${more}`;
}

function textTests({ group, reason, error, type, failedIn, routingKey, redrive }: FilterInput): Test[] {
  const wanted = error?.toLowerCase() ?? "";
  const service = new RegExp(`(^|, )service=${escaped(failedIn ?? "")}(,|$)`);
  const key = new RegExp(`^${(routingKey ?? "").split("*").map(escaped).join(".*")}$`, "s");
  const all: readonly (readonly [string | undefined, Test])[] = [
    [group, (_, facts) => groupIdOf(facts) === group],
    [reason, (_, facts) => facts.reason === reason],
    [error, (_, facts) => facts.error?.toLowerCase().includes(wanted) === true],
    [type, (_, facts) => facts.type === type],
    [failedIn, (_, { queue, consumer }) => queue === failedIn || service.test(consumer ?? "")],
    [routingKey, (_, facts) => key.test(facts.routingKey)],
    [redrive, (_, facts) => facts.redrive === redrive],
  ];
  return all.flatMap(([given, test]) => (given === undefined ? [] : [test]));
}

function timeTests({ from, to }: FilterInput, nowMs: number, problems: string[]): Test[] {
  const timeOf = (text: string): number => {
    const atMs = durationPattern.test(text) ? nowMs - parseDurationMs(text) : isoMs(text);
    if (Number.isNaN(atMs))
      problems.push(`${JSON.stringify(text)} is no time: write 2026-03-01T08:00:00Z, or 2h for two hours ago`);
    return atMs;
  };
  const fromMs = from === undefined ? null : timeOf(from);
  const toMs = to === undefined ? null : timeOf(to);
  if (fromMs === null && toMs === null) return [];
  if ((fromMs ?? -Infinity) >= (toMs ?? Infinity)) problems.push("the time from is not before the time to");
  return [
    (_, { diedAt }) => {
      const atMs = Date.parse(diedAt ?? "");
      return atMs >= (fromMs ?? -Infinity) && atMs < (toMs ?? Infinity);
    },
  ];
}

/** Other forms mean another time in each time zone. */
function isoMs(text: string): number {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
}

function pairTests({ header = [], body = [] }: FilterInput, problems: string[]): Test[] {
  const headers = header.map((text) => pairIn(text, problems));
  const paths = body.map((text) => pairIn(text, problems));
  const isEqual = (found: unknown, value: string | null): boolean =>
    found !== undefined && (value === null || String(found) === value);
  const test: Test = ({ headers: given, body: bytes }) => {
    if (!headers.every(([name, value]) => isEqual(ownOf(given, name), value))) return false;
    if (paths.length === 0) return true;
    const parsed = jsonIn(Buffer.from(bytes).toString());
    return paths.every(([path, value]) => isEqual(path.split(".").reduce(ownOf, parsed), value));
  };
  return headers.length + paths.length === 0 ? [] : [test];
}

function pairIn(text: string, problems: string[]): readonly [name: string, value: string | null] {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  if (name === "") problems.push(`${JSON.stringify(text)} names nothing before its =`);
  return [name, at === -1 ? null : text.slice(at + 1)];
}

function ownOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
