import { basename, extname, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { getHeapStatistics } from "node:v8";
import { Worker } from "node:worker_threads";

import { visible } from "../diagnostics/visible.ts";
import { exitCodes } from "./exit-codes.ts";

/** The data that the main thread gives to the thread of a command. */
export interface ThreadData {
  readonly words: readonly string[];
  readonly cacheFolder: string | null;
  /** The properties of the terminals behind the standard output and the standard error. */
  readonly terminals: readonly { readonly isTTY: boolean; readonly columns: number; readonly hasColors: boolean }[];
}

export type ThreadMessage =
  | { readonly kind: "done"; readonly exitCode: number }
  /** `letter` is the one that a function of the module has been called for. */
  | { readonly kind: "importing"; readonly file: string; readonly letter?: string }
  | { readonly kind: "imported" }
  /** The work that begins, as in "the report page". Null at its end. */
  | { readonly kind: "working"; readonly on: string | null };

/** The time for a module to export its system. */
const importMs = 30_000;
const progressMs = 10_000;
const firstSignMs = 1_000;

const memoryMs = 50;
/** As much as Node would allow itself. */
const mostMemory = getHeapStatistics().heap_size_limit;

/** The reason that a command did not end by itself. */
type Failure =
  | "never-ends"
  | { readonly endlessFor: string }
  | "ended"
  | "out-of-memory"
  | { readonly thrown: unknown };

/**
 * Runs a command in a thread of its own, so that no module and no input can end the program. A module may never end,
 * leave a timer or a socket open, exit, or use up the memory. The core works without a pause, so only another thread
 * can show progress.
 *
 * @returns the exit code, when all output is written
 */
export async function supervise(words: readonly string[], cacheFolder: string | null): Promise<number> {
  const terminals = [process.stdout, process.stderr].map((stream) => {
    const { isTTY, columns } = stream;
    return { isTTY, columns, hasColors: isTTY && stream.hasColors() };
  });
  const thread = new Worker(new URL(`./command-thread${extname(import.meta.url)}`, import.meta.url), {
    // At a thread's own limit, Node may end the process with a native trace. So the supervisor stops the thread before.
    resourceLimits: { maxOldGenerationSizeMb: Math.floor((1.25 * mostMemory) / 2 ** 20) },
    workerData: { words, cacheFolder, terminals } satisfies ThreadData,
  });
  const startedAtMs = performance.now();
  let work = "";
  thread.on("message", (message: ThreadMessage) => {
    if (message.kind === "importing") work = `, on ${visible(basename(message.file))}`;
    else work = message.kind === "working" && message.on !== null ? `, on ${message.on}` : "";
  });
  const say = (): void => {
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const megabytes = Math.round(process.memoryUsage.rss() / 1_000_000);
    process.stderr.write(`redeliver: still working after ${seconds} s${work}, with ${megabytes} MB of memory\n`);
  };
  const ticking = setInterval(say, progressMs);
  // A person waits for a sign of life. A log needs no line about a second.
  const first = process.stderr.isTTY ? setTimeout(say, firstSignMs) : undefined;
  const { outcome, file } = await outcomeOf(thread);
  clearInterval(ticking);
  clearTimeout(first);
  await thread.terminate();
  await Promise.all([thread.stdout, thread.stderr].map(async (stream) => finished(stream as NodeJS.ReadableStream)));
  const exitCode = typeof outcome === "number" ? outcome : await report(outcome, file, words);
  await Promise.all([process.stdout, process.stderr].map(written));
  return exitCode;
}

/** The exit code, or the reason that there is none. During an import it also has the file of the declaration. */
async function outcomeOf(thread: Worker) {
  let file: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;
  const outcome = await new Promise<number | Failure>((done) => {
    watching = setInterval(() => {
      if (process.memoryUsage.rss() > mostMemory) done("out-of-memory");
    }, memoryMs);
    thread.on("message", (message: ThreadMessage) => {
      clearTimeout(timer);
      switch (message.kind) {
        case "importing": {
          ({ file } = message);
          const { letter } = message;
          timer = setTimeout(() => done(letter === undefined ? "never-ends" : { endlessFor: letter }), importMs);
          break;
        }
        case "imported":
        case "working":
          break;
        case "done":
          done(message.exitCode);
          break;
        default:
          message satisfies never;
      }
    });
    thread.on("error", (thrown: unknown) => done(isOutOfMemory(thrown) ? "out-of-memory" : { thrown }));
    thread.on("exit", () => done("ended"));
  });
  clearTimeout(timer);
  clearInterval(watching);
  return { outcome, file };
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ERR_WORKER_OUT_OF_MEMORY";
}

async function report(failure: Failure, file: string | undefined, words: readonly string[]): Promise<number> {
  const { hidePasswordsIn, flushed } = await import("./output.ts");
  hidePasswordsIn(words);
  const exitCode = await say(failure, file, words);
  return (await flushed()) ? exitCode : exitCodes.usage;
}

async function say(failure: Failure, file: string | undefined, words: readonly string[]): Promise<number> {
  if (typeof failure === "object" && "thrown" in failure && !isThrownBy(file, failure.thrown)) {
    const { fail } = await import("./run.ts");
    return fail(failure.thrown);
  }
  const { diagnostic } = await import("../diagnostics/diagnostic.ts");
  const { refuse } = await import("./refuse.ts");
  const code = failure === "out-of-memory" ? "RD005" : isEndless(failure) ? "RD814" : "RD003";
  const problem = diagnostic(code, { path: "", ...textOf(failure) });
  const format = formatIn(words);
  const tool = format === "sarif" || format === "github" ? format : undefined;
  return refuse([problem], { json: format === "json", tool }, { file }, exitCodes.usage);
}

function isEndless(failure: Failure): failure is { readonly endlessFor: string } {
  return typeof failure === "object" && "endlessFor" in failure;
}

/** True if the module's own code throws, in a timer for example. */
function isThrownBy(file: string | undefined, thrown: unknown): boolean {
  const place = file === undefined ? undefined : pathToFileURL(resolve(file)).href;
  return place !== undefined && thrown instanceof Error && thrown.stack?.includes(place) === true;
}

const texts = {
  "never-ends": {
    message: `the module gives no export within ${importMs / 1_000} s`,
    help: "remove the await or the loop at its top level that never ends",
  },
  ended: {
    message: "the module ended the program before its export was there",
    help: "remove process.exit, and any await that never resolves",
  },
  "out-of-memory": {
    message: "this input needs more memory than there is",
    help: "divide it, or allow more with NODE_OPTIONS=--max-old-space-size=8192",
  },
};

function textOf(failure: Failure): { readonly message: string; readonly help: string } {
  if (isEndless(failure)) {
    const message = `the function does not end within ${importMs / 1_000} s for ${failure.endlessFor}`;
    return { message, help: "remove the loop that never ends, and look at the plan again" };
  }
  if (typeof failure === "object") {
    const { thrown } = failure;
    const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : "the thrown value is not an Error";
    return { message, help: "run it with node to see where" };
  }
  return texts[failure];
}

/** Reads the format as the commands do, because the stopped thread can no longer tell it. */
function formatIn(words: readonly string[]): string | undefined {
  if (words.includes("--json")) return "json";
  const at = words.findIndex((word) => word === "-f" || word === "--format");
  return at === -1 ? words.find((word) => word.startsWith("--format="))?.slice("--format=".length) : words[at + 1];
}

async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((done) => {
    stream.write("", () => done());
  });
}
