import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { ConsumeEvent, Handler, Running } from "../../src/consume/index.ts";
import { type Child, start } from "./dead-journal.ts";

const root = resolve(import.meta.dirname, "../..");

/** A line of the page, without its comment. */
interface PageLine {
  readonly section: string;
  readonly place: number;
  readonly text: string;
  /** The word after `dead`. Null if later commands need the line, such as an export. */
  readonly verb: string | null;
  /** The brokers that it is for: those that its block names, or all. */
  readonly brokers: readonly string[];
}
export type PageCommand = PageLine & { readonly verb: string };

const brokerWords = { rabbitmq: /rabbitmq/i, sqs: /sqs@/, servicebus: /servicebus/i };

/** Reads docs/dead-letters.md. @throws Error if nobody runs a block or a line of it */
function readPage(): { readonly lines: readonly PageLine[]; readonly modules: readonly string[] } {
  const page = readFileSync(join(root, "docs/dead-letters.md"), "utf8");
  const lines: PageLine[] = [];
  const modules: string[] = [];
  for (const part of page.split(/^## /m).slice(1)) {
    const section = part.slice(0, part.indexOf("\n"));
    for (const [, language, block = ""] of part.matchAll(/^```(.*)\n([^]*?)^```$/gm)) {
      // test/docs/target-files.test.ts compiles for it.
      if (language === "yaml" && block.startsWith("# target.yaml\n")) continue;
      if (language === "ts") modules.push(block);
      else if (language !== "sh") throw new Error(`no test runs a block of ${language} in ${section}`);
      else {
        const named = Object.entries(brokerWords).flatMap(([name, word]) => (word.test(block) ? [name] : []));
        const brokers = named.length === 0 ? Object.keys(brokerWords) : named;
        const texts = block.split("\n").map((line) => line.replace(/(^|\s+)# .*$/, ""));
        for (const text of texts.filter((each) => each !== "")) {
          const verb = /^(?:redeliver )?dead (\w+)/.exec(text)?.[1] ?? null;
          if (verb === null && !/^(export |\w+=|\w+\(\) )/.test(text)) throw new Error(`no test runs ${text}`);
          lines.push({ section, place: lines.length, text, verb, brokers });
        }
      }
    }
  }
  return { lines, modules };
}

const { lines, modules } = readPage();
export const commands = lines.filter((line): line is PageCommand => line.verb !== null);

/** The consumer of the page: that of `examples/shop.yaml`, with a queue for parked letters. */
export const consumers = {
  billing: {
    from: { orders: ["order.placed", "order.cancelled"] },
    retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s" } },
    errors: { permanent: ["ValidationError"] },
    deadLetter: { park: true },
  },
} as const;

/** A broker with the system of the page's declaration. */
export interface PageStage {
  readonly broker: keyof typeof brokerWords;
  readonly declaration: object;
  /** The page's texts that are others here, such as hosts. */
  readonly replaced: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Publishes orders as a producer does. If they expire, their time is over at once. */
  readonly publish: (bodies: readonly object[], isExpiring?: boolean) => Promise<void>;
  readonly consume: (handler: Handler, log?: (event: ConsumeEvent) => void) => Promise<Running>;
  readonly count: (queue: "work" | "dead" | "parked") => Promise<number>;
}

/** Takes work for the end of the tests. */
export type Finished = (end: () => void | Promise<void>) => void;

/** A person's shell, in a folder with the page's files. */
export interface PageShell {
  readonly folder: string;
  /** The words that earlier commands have printed, by the page's placeholders for them. */
  readonly learned: Record<string, string>;
  /** Types a command of the page, with `more` at its end. */
  readonly type: (command: PageCommand, more?: string) => Child;
}

const placeholder = /1a2b3c4d|4711|5e0c1d2f|rabbit\.example|my-|localhost|…/;

/** Makes a folder with `shop.yaml`, the page's module and the command `redeliver`. */
export function openShell({ broker, declaration, replaced, environment }: PageStage, finished: Finished): PageShell {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-page-"));
  finished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "shop.yaml"), JSON.stringify(declaration));
  writeFileSync(join(folder, "edit.ts"), modules.join("\n"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "bin"));
  const command = `#!/bin/sh\nexec "${process.execPath}" "${root}/src/cli/main.ts" "$@"\n`;
  writeFileSync(join(folder, "bin/redeliver"), command, { mode: 0o755 });
  const path = `${folder}/bin:${process.env["PATH"]}`;
  const env = { ...environment, PATH: path, XDG_STATE_HOME: folder, REDELIVER_JOURNAL: "" };
  const definitions = lines.filter(({ verb, brokers }) => verb === null && brokers.includes(broker));
  const learned: Record<string, string> = {};
  const type: PageShell["type"] = ({ place, text }, more = "") => {
    const before = definitions.filter((line) => line.place < place).map((line) => line.text);
    let script = [...before, `${text} ${more}`].join("\n");
    for (const [from, to] of Object.entries({ ...replaced, ...learned })) script = script.replaceAll(from, () => to);
    const unknown = placeholder.exec(script)?.[0];
    if (unknown !== undefined) throw new Error(`no command has printed ${unknown} for ${text}`);
    return start(["-c", script], env, { shell: "bash", cwd: folder });
  };
  return { folder, learned, type };
}
