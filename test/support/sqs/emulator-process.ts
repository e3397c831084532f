import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface ProcessOptions {
  /** Names the server in errors. */
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Finds the port in the log. The server picks a free one itself, so no other process can take it in between. */
  readonly portInLog: RegExp;
  /** A page that answers with success once the server works. */
  readonly readyPath: string;
  readonly timeoutMs?: number;
}

export interface ServerProcess {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server on a free loopback port and waits until it answers. If it fails, the error contains the end of its
 * log.
 */
export async function startServer(options: ProcessOptions): Promise<ServerProcess> {
  const child = spawn(options.command, options.arguments, {
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithThisProcess(child);
  const log = keepLogOf(child);
  const deadline = performance.now() + (options.timeoutMs ?? 60_000);
  for (;;) {
    const endpoint = endpointIn(log.text(), options.portInLog);
    if (endpoint !== undefined && (await answers(`${endpoint}${options.readyPath}`)))
      return { endpoint, stop: async () => stop(child) };
    const obstacle = log.end() ?? (performance.now() > deadline ? "it does not answer in time" : undefined);
    if (obstacle !== undefined) {
      await stop(child);
      throw new Error(`${options.name} did not start: ${obstacle}\n${log.tail()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function endpointIn(log: string, portInLog: RegExp): string | undefined {
  const port = portInLog.exec(log)?.[1];
  return port === undefined ? undefined : `http://127.0.0.1:${port}`;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

interface Log {
  readonly text: () => string;
  readonly tail: () => string;
  /** The reason that the process has ended, or undefined while it runs. */
  readonly end: () => string | undefined;
}

const keptCharacters = 100_000;

/** Keeps reading while the process runs, because a process with a full pipe stands still. */
function keepLogOf(child: ChildProcess): Log {
  let text = "";
  let end: string | undefined;
  const keep = (chunk: Buffer): void => {
    text = `${text}${chunk.toString()}`.slice(-keptCharacters);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  child.once("error", (error) => (end = error.message));
  child.once("close", (code, signal) => (end ??= `it ended with ${signal ?? `code ${code}`}`));
  return { text: () => text, tail: () => text.trimEnd().split("\n").slice(-40).join("\n"), end: () => end };
}

/**
 * Kills the process if it does not end soon. Emulators keep their data in memory, so an orderly end would save none.
 */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const running = new Set<ChildProcess>();
let endIsArranged = false;

/** A child outlives the process that started it. This ends it with that process, unless that one is killed outright. */
function endWithThisProcess(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
  if (endIsArranged) return;
  endIsArranged = true;
  const killAll = (): void => running.forEach((each) => each.kill("SIGKILL"));
  process.once("exit", killAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      killAll();
      // Without this listener the signal has its default effect again, or that of the next listener.
      process.kill(process.pid, signal);
    });
  }
}
