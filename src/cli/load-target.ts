import { extname } from "node:path";

import type { Target, TargetInput } from "../brokers/index.ts";
import { checkTarget, parseTarget } from "../brokers/index.ts";
import { parseText } from "../declare/parse.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { readOrCode } from "./read-text.ts";

/**
 * Reads a target from the command line: `rabbitmq@4.3`, or a `.yaml`, `.yml` or `.json` file with a target as data. A
 * file may have more settings than a word.
 *
 * @param strategy counts unless it is `auto`; then the file's strategy counts
 */
export function loadTarget(text: string, strategy: string): Checked<Target> {
  const extension = extname(text).toLowerCase();
  if (![".yaml", ".yml", ".json"].includes(extension)) return parseTarget(text, strategy);
  const read = readTarget(text);
  if (typeof read !== "string") return { ok: false, diagnostics: [diagnostic("RD201", read)] };
  const parsed = parseText(read, extension === ".json" ? "json" : "yaml");
  if (!parsed.ok) return parsed;
  return checkTargetData(parsed.value, strategy);
}

/** Checks the content of a file. */
export function checkTargetData(data: unknown, strategy = "auto"): Checked<Target> {
  if (typeof data === "string") return parseTarget(data, strategy);
  const isMapping = typeof data === "object" && data !== null && !Array.isArray(data);
  return checkTarget((isMapping && strategy !== "auto" ? { ...data, strategy } : data) as TargetInput);
}

function readTarget(file: string): string | { path: string; message: string; help: string } {
  const read = readOrCode(file);
  if ("text" in read) return read.text;
  const message = read.code === "ENOENT" ? "there is no such file" : `the file cannot be read: ${read.code}`;
  return { path: "target", message: `${JSON.stringify(file)}: ${message}`, help: "check the path" };
}
