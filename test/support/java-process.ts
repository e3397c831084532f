import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** One run of a snippet's handler, as the snippet's process reports it. */
interface ToldRun {
  readonly case: string;
  readonly id: string;
  readonly attempt: number;
  /** In seconds, by the clock of the machine. */
  readonly beganAt: number;
}

export interface RunningJava {
  /** @throws Error if the process has ended by itself */
  readonly runsOf: (name: string) => readonly ToldRun[];
  /** The whole output of the process, for the message of a failed test. */
  readonly log: () => string;
  /** Asks it to end, like a platform does, and waits for the end. */
  readonly terminate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Java code that reports a run of a handler: its case, and the texts of two expressions. */
export function tellInJava(name: string, id: string, attempt: string): string {
  const told = String.raw`{\"case\":\"${name}\",\"id\":\"%s\",\"attempt\":%d,\"beganAt\":%s}`;
  return `System.out.println(String.format("${told}", ${id}, ${attempt}, System.currentTimeMillis() / 1000.0));`;
}

/** Java code that throws an error with an endless chain of causes. */
export const throwRingInJava =
  'java.io.IOException down = new java.io.IOException("down"); down.initCause(new RuntimeException("wrapped", down)); throw down;';

/**
 * Compiles a program and runs its class `Main`. `Main` has to end with its standard input, because the process that
 * started it holds the other end.
 *
 * @param jarsFolder the libraries of the program, with Eclipse's compiler
 * @param files the program's, by their paths; files of other languages go beside the classes
 */
export async function runJava(jarsFolder: string, files: ReadonlyMap<string, string>): Promise<RunningJava> {
  if (!existsSync(jarsFolder))
    throw new Error("the Java clients are not installed: `npm run bootstrap -- --java` installs them");
  const folder = mkdtempSync(join(tmpdir(), "redeliver-java-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    return start(await build(folder, jarsFolder, files), remove);
  } catch (error) {
    remove();
    throw error;
  }
}

/** @returns the class path of the build */
async function build(folder: string, jarsFolder: string, files: ReadonlyMap<string, string>): Promise<string> {
  const classes = join(folder, "classes");
  const sources: string[] = [];
  for (const [path, text] of files) {
    const isSource = path.endsWith(".java");
    const place = join(isSource ? folder : classes, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    if (isSource) sources.push(place);
  }
  const jars = readdirSync(jarsFolder).map((name) => join(jarsFolder, name));
  // Eclipse's compiler comes from Maven like the rest. Debian's package for running Java has no compiler.
  const compiler = "org.eclipse.jdt.internal.compiler.batch.Main";
  const options = ["-source", "17", "-target", "17", "-proc:none", "-nowarn", "-parameters"];
  const child = spawn("java", [...brief, "-cp", jars.join(":"), compiler, ...options, "-d", classes, ...sources]);
  const said = listen(child, () => undefined);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the snippets do not compile:\n${said()}`);
  return [classes, ...jars].join(":");
}

/** The process lives only seconds, so thorough compilation would not pay. */
const brief = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

function start(classPath: string, remove: () => void): RunningJava {
  const runs: ToldRun[] = [];
  const child = spawn("java", [...brief, "-cp", classPath, "Main"]);
  const log = listen(child, (line) => {
    if (line.startsWith('{"case":')) runs.push(JSON.parse(line) as ToldRun);
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let isAsked = false;
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    isAsked = true;
    if (hasEnded()) return;
    const closed = once(child, "close");
    child.kill(signal);
    await closed;
  };
  return {
    runsOf: (name) => {
      if (hasEnded() && !isAsked) throw new Error(`the process of the snippets has ended:\n${log()}`);
      return runs.filter((run) => run.case === name);
    },
    log,
    terminate: async () => end("SIGTERM"),
    stop: async () => {
      await end("SIGKILL");
      remove();
    },
  };
}

/** Passes on each line of the standard output. @returns a function that gives the whole output */
function listen(child: ChildProcess, hear: (line: string) => void): () => string {
  let rest = "";
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  return () => log;
}
