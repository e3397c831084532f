import { randomInt } from "node:crypto";
import { writeSync } from "node:fs";
import { normalize } from "node:path";

import { type Paint, inColour } from "../diagnostics/paint.ts";
import { maskCredentials, maskedValue } from "../diagnostics/mask-credentials.ts";
import { printableJson, visible } from "../diagnostics/visible.ts";
import { exitCodes } from "./exit-codes.ts";
import { UnwritableError, writeWhole } from "./write-file.ts";

/** Texts that are written and may not have arrived. */
const pending: Promise<void>[] = [];
const failures = new Map<NodeJS.WriteStream, NodeJS.ErrnoException>();

/**
 * The beginning of our own colours. It is random, so a sequence in a foreign name or message cannot imitate it. Tables
 * treat it as a sequence without width, like any other colour. It exists from the first use of a colour.
 */
let mark: string | undefined;

/** The colours for texts on this stream; a file gets none. */
export function paintOn(stream: NodeJS.WriteStream, file?: string): Paint | false {
  if (file !== undefined || stream.hasColors?.() !== true) return false;
  const own = (mark ??= `\u001B[${Array.from({ length: 4 }, () => randomInt(1_000, 10_000)).join(";")};`);
  return (format, text) => inColour(format, text).replaceAll("\u001B[", own);
}

/**
 * The only form for a value that leaves the program. In a text, the only control sequences are our own colours and line
 * ends. Any other value becomes JSON with such characters escaped. Neither contains a password.
 */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? shownText(value) : printableJson(maskedData(value));
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function shownText(text: string): string {
  return text.split("\n").map(shownLine).join("\n");
}

function shownLine(line: string): string {
  const [first = "", ...painted] = mark === undefined ? [line] : line.split(mark);
  const parts = painted.map((part) => {
    const [, colour = "", rest = ""] = /^(\d+m)?(.*)$/s.exec(part) ?? [];
    return `${colour === "" ? "" : `\u001B[${colour}`}${shownPart(rest)}`;
  });
  return [shownPart(first), ...parts].join("");
}

function shownPart(part: string): string {
  return masked(visible(part));
}

/** The words of the command line that hold a password, in each form that may appear, with the text to show instead. */
let ownWords: readonly (readonly [word: string, shown: string])[] = [];

/**
 * Here the end of a word is known, so its password may hold any character. In the middle of a message the end is
 * uncertain.
 */
export function hidePasswordsIn(words: readonly string[]): void {
  ownWords = words.flatMap((word) => {
    const shown = String(maskedValue(word));
    if (shown === word) return [];
    const forms = [word, normalize(word), JSON.stringify(word).slice(1, -1)];
    return [...new Set(forms.flatMap((form) => [form, visible(form)]))].map((form) => [form, visible(shown)] as const);
  });
}

function masked(text: string): string {
  return maskCredentials(ownWords.reduce((left, [word, shown]) => left.replaceAll(word, () => shown), text));
}

/** True if masking would change a resource to deploy, because a text in it looks like a password. */
export function holdsPassword(value: unknown): boolean {
  return JSON.stringify(maskedData(value)) !== JSON.stringify(value);
}

/**
 * Data with the passwords in its texts masked. A value under a name such as `token` stays, because a queue may have
 * that name.
 */
function maskedData(value: unknown): unknown {
  if (typeof value === "string") return masked(value);
  if (Array.isArray(value)) return value.map(maskedData);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [masked(key), maskedData(each)]));
}

export function writeOut(text: string): void {
  write(process.stdout, shownText(text));
}

export function writeError(text: string): void {
  write(process.stderr, shownText(text));
}

/**
 * Replaces the last line on a terminal at once. The stream of a thread would pass nothing on while the thread works.
 */
export function showProgress(line: string): void {
  writeSync(2, `\r${visible(line)}\u001B[K`);
}

type Write = typeof process.stdout.write;
/** The ways to the standard output: our own, and that of everybody else. */
let [own, others]: [Write?, Write?] = [];

/**
 * Sends to the standard error everything that the code of others prints. A module runs on while the command works, so
 * this holds until the program ends.
 */
export function divertOthers(): void {
  if (process.stdout.write === others) return;
  own = process.stdout.write;
  others = process.stderr.write.bind(process.stderr);
  process.stdout.write = others;
}

/** A failing stream also raises an event. Without a listener that would end the process with a stack trace. */
function write(stream: NodeJS.WriteStream, text: string): void {
  if (failures.has(stream)) return;
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
  const { promise, resolve } = Promise.withResolvers<void>();
  pending.push(promise);
  const arrived = (cause?: Error | null): void => {
    if (cause && !failures.has(stream)) failures.set(stream, cause);
    resolve();
  };
  Reflect.apply((stream.write === others ? own : undefined) ?? stream.write, stream, [text, arrived]);
}

function ignore(): void {}

/**
 * Waits until all texts have arrived.
 *
 * @returns true if all have arrived; a reader that has gone away, such as `head`, needs no message
 */
export async function flushed(): Promise<boolean> {
  await Promise.all(pending.splice(0));
  const cause = failures.get(process.stdout);
  if (cause !== undefined && cause.code !== "EPIPE" && !failures.has(process.stderr)) {
    writeError(`error: the standard output cannot be written: ${cause.code}\n`);
    await Promise.all(pending.splice(0));
  }
  return failures.size === 0;
}

/** Prints a text, or any other value as JSON, to the standard output or into a file. */
export async function print(value: unknown, file?: string): Promise<number> {
  const text = shown(value);
  if (file === undefined) {
    write(process.stdout, text);
    return exitCodes.fine;
  }
  try {
    await writeWhole(file, text);
    return exitCodes.fine;
  } catch (cause) {
    if (!(cause instanceof UnwritableError)) throw cause;
    writeError(`error: ${visible(normalize(file))} cannot be written: ${cause.message}\n`);
    return exitCodes.usage;
  }
}
