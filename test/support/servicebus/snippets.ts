import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { serviceBusClientFolder } from "../../../scripts/java-clients.mjs";
import { filesOf, pageOf } from "../contract-page.ts";
import { runJava, tellInJava, throwRingInJava } from "../java-process.ts";
import type { DeployedSystem } from "./deployed-system.ts";
import type { Ended } from "./keeps-contract.ts";

/** One run of a snippet's handler. */
interface Run {
  readonly body: string;
  readonly attempt: number;
  readonly beganAtMs: number;
}

/** The snippets of several pages, each on its own system. */
export interface RunningSnippets {
  readonly runsOf: (name: string) => readonly Run[];
  /** Ends them like a platform does: each finishes its current message and takes no other. */
  readonly shutDown: () => Promise<void>;
}

/** The systems, each with one consumer, `billing`. Their names are words of every language. */
export type Systems = Readonly<Record<string, DeployedSystem>>;

type Finished = (end: () => void | Promise<void>) => void;

/**
 * The first word of a body decides the end of each run of the handler. `back`, `asked` and `slow` apply to the first
 * run.
 */
export const ended: Ended = (body, attempt) => {
  const [kind = ""] = body.split(" ");
  if (kind === "permanent" || kind === "transient") return kind;
  if (kind === "once" && attempt === 1) return "transient";
  return "success";
};

/** The time of a handler that a shutdown interrupts. */
const slowMs = 1_500;
export const askedMs = 600;

type Handle = (body: Buffer, attempt: number) => Promise<void>;
interface Snippet {
  readonly run: (connectionString: string, handle: Handle, signal?: AbortSignal) => Promise<void>;
  readonly RetryAfter: new (delayMs: number) => Error;
  readonly HandBack: new () => Error;
}

class ValidationError extends Error {}

/** An error with an endless chain of causes. */
function inRing(): Error {
  const error = new Error("down");
  error.cause = new Error("wrapped", { cause: error });
  return error;
}

/** In this process, with Microsoft's client for JavaScript. */
async function runJavascript(finished: Finished, systems: Systems): Promise<RunningSnippets> {
  // Below the checkout, so that Node finds the SDK.
  const parent = resolve(import.meta.dirname, "../../../out");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "snippet-"));
  finished(() => rmSync(folder, { recursive: true }));
  const runs = new Map<string, Run[]>();
  const aborting = new AbortController();
  const running = Object.entries(systems).map(async ([name, { contract, lab }]) => {
    const path = join(folder, `${name}.mjs`);
    writeFileSync(path, filesOf(pageOf(contract("billing"))).get("service-bus.mjs") ?? "");
    const { run, RetryAfter, HandBack } = (await import(/* @vite-ignore */ path)) as Snippet;
    const own: Run[] = [];
    runs.set(name, own);
    const handle: Handle = async (bytes, attempt) => {
      const body = bytes.toString();
      const isFirst = own.every((each) => each.body !== body);
      own.push({ body, attempt, beganAtMs: Date.now() });
      if (body.startsWith("slow")) await new Promise((done) => setTimeout(done, slowMs));
      if (body.startsWith("back") && isFirst) throw new HandBack();
      if (body.startsWith("asked") && isFirst) throw new RetryAfter(askedMs);
      const outcome = ended(body, attempt);
      if (outcome === "permanent") throw new Error("wrapped", { cause: new ValidationError("bad") });
      if (outcome === "transient") throw inRing();
    };
    await run(lab.emulator.connectionString, handle, aborting.signal);
  });
  const shutDown = async (): Promise<void> => {
    aborting.abort();
    await Promise.all(running);
  };
  finished(shutDown);
  return { runsOf: (name) => runs.get(name) ?? [], shutDown };
}

/** In a process of their own, with Microsoft's client for Java. */
async function runInJava(finished: Finished, systems: Systems): Promise<RunningSnippets> {
  const files = new Map([
    ["Main.java", mainOf(systems)],
    ["simplelogger.properties", "org.slf4j.simpleLogger.defaultLogLevel=warn"],
  ]);
  for (const [name, { contract }] of Object.entries(systems)) {
    for (const [file, text] of filesOf(pageOf(contract("billing")), ".java"))
      files.set(`${name}/${file}`, `package ${name};\n${text}`);
    files.set(`${name}/Billing.java`, handlerInJava(name));
  }
  const java = await runJava(serviceBusClientFolder, files);
  finished(java.stop);
  return {
    runsOf: (name) =>
      java.runsOf(name).map(({ id, attempt, beganAt }) => ({ body: id, attempt, beganAtMs: beganAt * 1_000 })),
    shutDown: java.terminate,
  };
}

function mainOf(systems: Systems): string {
  const starts = Object.entries(systems).map(
    ([
      name,
      { lab },
    ]) => `        ${name}.ServiceBusConsumer ${name} = new ${name}.ServiceBusConsumer(${JSON.stringify(lab.emulator.connectionString)}, new ${name}.Billing());
        new Thread(${name}::run).start();
        stops.add(() -> { ${name}.stop(); return null; });`,
  );
  return `import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

public class Main {
    public static void main(String[] words) throws Exception {
        java.util.List<Callable<Void>> stops = new java.util.ArrayList<>();
${starts.join("\n")}
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                Executors.newCachedThreadPool().invokeAll(stops);
            } catch (InterruptedException interrupted) {
                interrupted.printStackTrace();
            }
        }));
        System.in.read();
        Runtime.getRuntime().halt(0);
    }
}
`;
}

function handlerInJava(name: string): string {
  return `package ${name};

public class Billing implements Outcomes.Handler<byte[]> {
    static class ValidationError extends RuntimeException {}

    private final java.util.Set<String> seen = java.util.concurrent.ConcurrentHashMap.newKeySet();

    public void handle(byte[] bytes, int attempt) throws Exception {
        String body = new String(bytes, "UTF-8");
        String kind = body.split(" ")[0];
        boolean isFirst = seen.add(body);
        ${tellInJava(name, "body", "attempt")}
        if (kind.equals("slow")) Thread.sleep(${slowMs});
        if (kind.equals("back") && isFirst) throw new Outcomes.HandBack();
        if (kind.equals("asked") && isFirst) throw new Outcomes.RetryAfter(${askedMs});
        if (kind.equals("permanent")) throw new IllegalStateException("wrapped", new ValidationError());
        if (kind.equals("transient") || kind.equals("once") && attempt == 1) { ${throwRingInJava} }
    }
}
`;
}

export const languages: readonly {
  readonly language: string;
  readonly start: (finished: Finished, systems: Systems) => Promise<RunningSnippets>;
}[] = [
  { language: "JavaScript", start: runJavascript },
  { language: "Java", start: runInJava },
];
