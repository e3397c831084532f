import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { LetterFacts } from "./facts.ts";
import { type Headers, type Letter, isTable, lossIn } from "./letter.ts";
import { createExportReader, headerLine, letterLine } from "./ndjson.ts";

/** A letter as a function for `dead edit` gets it. It is a copy, and changing it changes nothing. */
export interface EditableLetter {
  /** The parsed JSON; the bytes, if the body is no JSON, or has a number that JavaScript would change. */
  readonly body: unknown;
  readonly headers: Headers;
  readonly facts: LetterFacts;
}

/** A module for `dead edit`. */
export interface Editor {
  readonly edit: (letter: EditableLetter) => unknown;
  /** A Standard Schema for the parsed JSON of the new body. Source: standardschema.dev. */
  readonly schema: Schema | null;
}

interface Schema {
  readonly "~standard": { readonly validate: (value: unknown) => unknown };
}

/** Why a letter cannot be edited. */
export class EditError extends Error {
  override readonly name = "EditError";
}

export function isSchema(value: unknown): value is Schema {
  const standard: unknown = Object(value)["~standard"];
  return typeof (Object(standard) as { readonly validate?: unknown }).validate === "function";
}

/**
 * Calls the function for a letter, and checks its answer.
 *
 * @returns the changed letter with an id of its own; null if the letter is not to be changed, or not different
 * @throws EditError
 */
export function editLetter(letter: Letter, facts: LetterFacts, { edit, schema }: Editor): Letter | null {
  const given = parsed(letter.body);
  const answer = edit(structuredClone({ body: given.value, headers: letter.headers, facts }));
  if (answer === null) return null;
  if (answer instanceof Promise) throw new EditError("the function gives a promise, and it has to be synchronous");
  if (!isTable(answer)) throw new EditError("the function gives no object with body and headers, and no null");
  const unknown = Object.keys(answer).find((key) => key !== "body" && key !== "headers");
  if (unknown !== undefined) throw new EditError(`the function gives ${unknown}, and only body and headers can change`);
  const { body: newBody, headers = letter.headers } = answer;
  const isKept = newBody === undefined || isDeepStrictEqual(newBody, given.value);
  const body = isKept ? letter.body : bytesOf(newBody);
  checkHeaders(letter.headers, headers);
  if (schema !== null) checkBody(body, schema);
  const changed = { ...letter, body, headers: headers as Headers };
  const text = textOf(changed);
  if (text === textOf(letter)) return null;
  // A letter that an export does not keep as it is cannot be sent as it is, either.
  const reader = createExportReader();
  reader.take(headerLine({ broker: "", queue: "", consumer: null }));
  const read = reader.take(text)?.letter;
  if (read === undefined || textOf(read) !== text)
    throw new EditError("the new headers have values that no header has");
  const loss = lossIn(changed);
  if (loss !== null) throw new EditError(`the new headers have ${loss}`);
  // The copy had other classes of bytes than clients write.
  return {
    ...changed,
    headers: read.headers,
    properties: { ...letter.properties, messageId: newIdOf(changed, facts) },
  };
}

/** The paths with other values: `body.order.zip`, with the value before and after. */
export function differencesBetween(before: Letter, after: Letter): readonly string[] {
  return [
    ...differences("body", parsed(before.body).value, parsed(after.body).value),
    ...differences("headers", before.headers, after.headers),
  ];
}

function differences(path: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isTable(before) && isTable(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differences(`${path}.${key}`, before[key], after[key]));
  }
  return [`${path}: ${shown(before)} → ${shown(after)}`];
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value);
}

/** The value of a JSON body. Null in `json` if it is none, or if JavaScript would change a number in it. */
function parsed(body: Uint8Array): { readonly value: unknown; readonly isJson: boolean } {
  const bytes = Buffer.from(body);
  let isExact = true;
  const watch = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const isInteger = typeof value === "number" && /^-?\d+$/.test(context?.source ?? "");
    if (isInteger && !Number.isSafeInteger(value)) isExact = false;
    return value;
  };
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes), watch);
    return isExact ? { value, isJson: true } : { value: bytes, isJson: false };
  } catch {
    return { value: bytes, isJson: false };
  }
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  const text = JSON.stringify(body) as string | undefined;
  // For example a date, an undefined or an infinite number would become something else.
  if (text === undefined || !isDeepStrictEqual(JSON.parse(text), body))
    throw new EditError("the new body is neither bytes nor plain JSON");
  return Buffer.from(text);
}

/** A broker keeps types of headers, and a consumer relies on them. */
function checkHeaders(before: Headers, after: unknown): void {
  if (!isTable(after)) throw new EditError("the new headers are no object");
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    const isSame = old === undefined ? typeof value === "string" : kindOf(old) === kindOf(value);
    if (!isSame)
      throw new EditError(`the header ${name} is ${kindOf(value)}; a header keeps its type, and a new one is a text`);
  }
}

function kindOf(value: unknown): string {
  if (value instanceof Uint8Array) return "bytes";
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
}

function checkBody(body: Uint8Array, schema: Schema): void {
  const { value, isJson } = parsed(body);
  if (!isJson) throw new EditError("the schema cannot judge a body that is no JSON, or has an integer beyond 53 bits");
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) throw new EditError("the schema is asynchronous");
  const { issues } = Object(result) as { readonly issues?: readonly { message: string; path?: readonly unknown[] }[] };
  const [issue] = issues ?? [];
  if (issue === undefined) return;
  const path = (issue.path ?? []).map((part) => (isTable(part) ? String(part["key"]) : String(part)));
  throw new EditError(`the schema refuses the body: ${path.join(".")} ${issue.message}`.replace(":  ", ": "));
}

/** The body and the headers with their types. */
function textOf({ headers, body }: Letter): string {
  const none = { position: 0, exchange: "", routingKey: "", redelivered: false, properties: {} };
  return letterLine({ letter: { ...none, headers, body }, lost: null });
}

/** RabbitMQ counts each look, and may then show the headers in another order. */
const counts = /^x-(delivery|acquired)-count$/;

/**
 * The same for the same letter and the same change, so that a guard knows the second copy after a crash. A letter
 * without an id cannot be told from others, so its new id is random.
 */
function newIdOf(changed: Letter, { messageId, generation }: LetterFacts): string {
  if (messageId === null) return randomUUID();
  const own = String(changed.properties["sequenceNumber"] ?? messageId);
  const given = Object.entries(changed.headers).filter(([name]) => !counts.test(name));
  const headers = Object.fromEntries(given.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const text = JSON.stringify([own, messageId, generation, textOf({ ...changed, headers })]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
