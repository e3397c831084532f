import { readFileSync } from "node:fs";
import { extname } from "node:path";

import type { Target, TargetInput } from "../brokers/index.ts";
import { checkTarget, parseTarget } from "../brokers/index.ts";
import { parseText } from "../declare/parse.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/**
 * Reads a target as the command line has it: `rabbitmq@4.3`, or a `.yaml`, `.yml` or `.json` file with a target as data, which may say more
 * than a word can.
 *
 * @param strategy counts where it is not `auto`; otherwise what the file says of it
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

/** Checks what a file holds. */
export function checkTargetData(data: unknown, strategy = "auto"): Checked<Target> {
  const isMapping = typeof data === "object" && data !== null && !Array.isArray(data);
  if (!isMapping || !("broker" in data) || typeof data.broker !== "string") return parseTarget(text(data));
  return checkTarget({ ...data, ...(strategy === "auto" ? {} : { strategy }) } as TargetInput);
}

function text(data: unknown): string {
  return typeof data === "string" ? data : JSON.stringify(data);
}

function readTarget(file: string): string | { path: string; message: string; help: string } {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = code === "ENOENT" ? "there is no such file" : `the file cannot be read: ${code}`;
    return { path: "target", message: `${JSON.stringify(file)}: ${message}`, help: "check the path" };
  }
}
