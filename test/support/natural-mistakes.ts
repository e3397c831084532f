import { readFileSync } from "node:fs";
import { join } from "node:path";

import { oneConsumer, within } from "./examples.ts";

/** A mistake with the only answer to it: its code, its place and its fix. */
type Row = readonly [mistake: string, input: unknown, code: string, path: string, fix: string];

const steady = { kind: "constant", delay: "30s" };
const at = "consumers.billing";
const retryOf = (retry: object): unknown => oneConsumer({ retry });

/** The places of a declaration that a mistake is written in. */
const places = {
  file: within("", (value: unknown) => value),
  system: within("", (fields: object) => oneConsumer({}, { ...fields })),
  consumer: within(at, (fields: object) => oneConsumer({ ...fields })),
  from: within(at, (from: unknown) => oneConsumer({ from })),
  retry: within(`${at}.retry`, (fields: object) => retryOf({ attempts: 5, backoff: steady, ...fields })),
  uncounted: within(`${at}.retry`, (fields: object) => retryOf({ ...fields, backoff: steady })),
  backoff: within(`${at}.retry.backoff`, (backoff: unknown) => retryOf({ attempts: 5, backoff })),
} as const;

/** The rows of natural-mistakes.md. */
export const naturalMistakes: readonly Row[] = readFileSync(join(import.meta.dirname, "natural-mistakes.md"), "utf8")
  .split("\n")
  .filter((line) => / \| RD\d{3} \| /.test(line))
  .map((line) => {
    const [, mistake = "", place = "", written = "", code = "", path = "", fix = ""] = line.split(/ ?\| ?/);
    // oxlint-disable-next-line no-implied-eval -- the text is ours
    const value = new Function("oneConsumer", `return (${written})`)(oneConsumer) as never;
    return places[place as keyof typeof places](mistake, value, code, path, fix);
  });
