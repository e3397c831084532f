import { jsonIn } from "../foreign/parse-json.ts";
import { type Headers, type Letter, isTable, isTyped } from "./letter.ts";

/** The first line of an export. */
export interface ExportHeader {
  readonly redeliver: "dead-letters";
  readonly version: 1;
  readonly broker: string;
  readonly queue: string;
  /** Null for a queue that no declaration names. */
  readonly consumer: string | null;
}

/** The last line of an export. Without it the export is truncated. */
interface ExportEnd {
  readonly end: true;
  readonly letters: number;
}

/** A letter in an export. */
export interface ExportedLetter {
  readonly letter: Letter;
  /** The reason why the export does not hold the whole letter. */
  readonly lost: string | null;
}

/** Writes the first line of an export. */
export function headerLine({ broker, queue, consumer }: Omit<ExportHeader, "redeliver" | "version">): string {
  const header: ExportHeader = { redeliver: "dead-letters", version: 1, broker, queue, consumer };
  return `${JSON.stringify(header)}\n`;
}

/** Writes a letter as one line. A type that JSON lacks is named: `{"!":"bytes","value":"AAE="}`. */
export function letterLine({ letter, lost }: ExportedLetter): string {
  const { headers, body, ...others } = letter;
  const shown = { ...others, headers: encodeTable(headers), body: Buffer.from(body).toString("base64") };
  return `${JSON.stringify(lost === null ? shown : { ...shown, lost })}\n`;
}

/** Writes the last line of an export. */
export function endLine(letters: number): string {
  return `${JSON.stringify({ end: true, letters } satisfies ExportEnd)}\n`;
}

/**
 * Reads an export line by line, in constant memory: what it holds, or the first thing in it that is wrong. It never
 * throws.
 */
export function createExportReader() {
  const state: {
    header: ExportHeader | null;
    end: ExportEnd | null;
    letters: number;
    problem: string | null;
    /** The lines after the first that is wrong. */
    after: number;
  } = { header: null, end: null, letters: 0, problem: null, after: 0 };
  /** @returns the letter in the line; null for another line, and after the first mistake */
  const take = (line: string): ExportedLetter | null => {
    if (state.problem !== null) {
      state.after += 1;
      return null;
    }
    const value = jsonIn(line);
    if (state.header === null) {
      if (isHeader(value)) state.header = value;
      else state.problem = "its first line is not that of an export of dead letters";
      return null;
    }
    if (state.end !== null) state.problem = "it has lines after its end";
    else if (isEnd(value)) state.end = value;
    else {
      const letter = letterOf(value);
      if (letter !== null) {
        state.letters += 1;
        return letter;
      }
      state.problem = "the line after them is not a whole letter";
    }
    return null;
  };
  return {
    take,
    /** Null before the first line. */
    header: () => state.header,
    letters: () => state.letters,
    /** True if nothing is wrong but that the end is missing: the last line is, or a part of the line before. */
    isCutOff: () => state.header !== null && state.end === null && state.after === 0,
    /** Called after the last line. @returns null if the export is whole */
    problem: () => {
      if (state.problem !== null) return state.problem;
      if (state.end === null) return "its last line is missing, so it was cut off";
      const { letters } = state.end;
      return letters === state.letters ? null : `it was written with ${letters} letters`;
    },
  };
}

function isHeader(value: unknown): value is ExportHeader {
  if (!isTable(value)) return false;
  const { redeliver, version, broker, queue, consumer } = value;
  const areTexts = typeof broker === "string" && typeof queue === "string";
  return (
    redeliver === "dead-letters" && version === 1 && areTexts && (consumer === null || typeof consumer === "string")
  );
}

function isEnd(value: unknown): value is ExportEnd {
  return isTable(value) && value["end"] === true && typeof value["letters"] === "number";
}

function letterOf(value: unknown): ExportedLetter | null {
  if (!isTable(value)) return null;
  const { position, exchange, routingKey, redelivered, headers, properties, body, lost = null } = value;
  if (typeof position !== "number" || typeof redelivered !== "boolean") return null;
  if (typeof exchange !== "string" || typeof routingKey !== "string" || typeof body !== "string") return null;
  if (!isTable(properties) || !Object.values(properties).every(isPlain)) return null;
  if (lost !== null && typeof lost !== "string") return null;
  try {
    const table = decodeTable(headers);
    const given = properties as Letter["properties"];
    const bytes = Buffer.from(body, "base64");
    // Node skips characters that are not base64.
    if (bytes.toString("base64") !== body) return null;
    return {
      letter: { position, exchange, routingKey, redelivered, properties: given, headers: table, body: bytes },
      lost,
    };
  } catch {
    return null;
  }
}

const isPlain = (value: unknown): boolean => typeof value === "string" || typeof value === "number";

function encodeTable(table: Headers): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, encodeValue(value)]));
}

/** An object of JSON always names its type, so a table cannot be taken for a typed value. */
function encodeValue(value: unknown): unknown {
  if (typeof value === "number") {
    const isOfJson = Number.isFinite(value) && !Object.is(value, -0);
    return isOfJson ? value : { "!": "number", value: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { "!": "bytes", value: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map(encodeValue);
  const table = value as Headers;
  const isOwnType = isTyped(table) && (table["!"] === "timestamp" || table["!"] === "decimal");
  return isOwnType ? table : { "!": "table", value: encodeTable(table) };
}

function decodeTable(table: unknown): Headers {
  if (!isTable(table)) throw new TypeError("not a table");
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, decodeValue(value)]));
}

function decodeValue(encoded: unknown): unknown {
  if (Array.isArray(encoded)) return encoded.map(decodeValue);
  if (!isTable(encoded)) return encoded;
  const { "!": type, value } = encoded;
  switch (type) {
    case "number":
      return Number(value);
    case "bytes":
      return Buffer.from(String(value), "base64");
    case "table":
      return decodeTable(value);
    case "timestamp":
    case "decimal":
      return encoded;
    default:
      throw new TypeError("an unknown type");
  }
}
