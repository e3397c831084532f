import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { startBroker } from "../support/broker-containers.ts";
import { until } from "../support/deployed-system.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));

/** Makes an empty folder where `npx redeliver` and its imports are this checkout, as if it were installed. */
function makeFolder(): string {
  const folder = temporaryFolder("tutorial", onTestFinished);
  const modules = join(folder, "tutorial/node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  mkdirSync(join(modules, "redeliver"));
  symlinkSync(join(root, "node_modules/amqplib"), join(modules, "amqplib"));
  const command = `#!/bin/sh\nexec "${process.execPath}" "${root}/src/cli/main.ts" "$@"\n`;
  writeFileSync(join(modules, ".bin/redeliver"), command, { mode: 0o755 });
  const exports = { ".": "./index.js", "./consume": "./consume.js" };
  writeFileSync(
    join(modules, "redeliver/package.json"),
    JSON.stringify({ name: "redeliver", type: "module", exports }),
  );
  writeFileSync(join(modules, "redeliver/index.js"), `export * from ${JSON.stringify(join(root, "src/index.ts"))};\n`);
  const consume = JSON.stringify(join(root, "src/consume/index.ts"));
  writeFileSync(join(modules, "redeliver/consume.js"), `export * from ${consume};\n`);
  return folder;
}

// The files are written, the commands typed and the outputs compared in the page's own order.
test("a reader of docs/tutorial.md comes to the end", { timeout: 300_000 }, async () => {
  const { broker, stop } = await startBroker("4.3");
  onTestFinished(stop);
  const folder = makeFolder();
  const inside = join(folder, "tutorial");
  const replaced: Readonly<Record<string, string>> = {
    "mkdir tutorial && cd tutorial": "cd tutorial",
    // The folder has them already: the packed package has a test of its own.
    "npm install ../redeliver-0.1.0.tgz amqplib": "",
    // The broker runs already, from the same image or from Debian's packages, and on other ports.
    "docker run --detach --name rabbitmq --publish 5672:5672 --publish 15672:15672 rabbitmq:4.3-management": "",
    "docker rm --force --volumes rabbitmq": "",
    "exec rabbitmq ": `exec ${broker.containerId} `,
    "--interactive rabbitmq ": `--interactive ${broker.containerId} `,
    "amqp://guest:guest@localhost:5672": broker.amqpUrl,
    "http://guest:guest@localhost:15672": broker.managementUrl,
  };
  const unused = new Set(Object.keys(replaced));
  const asHere = (text: string): string => {
    let here = text;
    for (const [from, to] of Object.entries(replaced)) {
      if (here.includes(from)) unused.delete(from);
      here = here.replaceAll(from, to);
    }
    return here;
  };

  const environment = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    XDG_STATE_HOME: folder,
    REDELIVER_JOURNAL: "",
  };
  /** What both terminals have shown since the last output of the page. */
  let shown = "";
  const open = (script: string, cwd: string): ChildProcess => {
    const child = spawn("bash", ["-ec", script], { cwd, env: environment, detached: true });
    // A failed test leaves no process behind.
    onTestFinished(() => void (child.exitCode === null && child.kill("SIGKILL")));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (shown += text));
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    const [code] = (await once(child, "close")) as [number];
    expect(code, shown).toBe(0);
  };

  let exported = "";
  let consumer: ChildProcess | null = null;
  for (const { language, text } of blocks) {
    if (language === "ts") {
      const [, name = ""] = /^\/\/ (\S+\.ts)\n/.exec(text) ?? [];
      writeFileSync(join(inside, name), text);
    } else if (language === "sh") {
      const typed = asHere(text);
      exported += (typed.match(/^export .*\n/gm) ?? []).join("");
      const isConsumer = text.endsWith("node consumer.ts\n");
      if (isConsumer && consumer !== null) await interrupt(consumer);
      const script = `${exported}${typed}`.replace("node consumer.ts", "exec node consumer.ts");
      const child = open(script, text.startsWith("mkdir") ? folder : inside);
      if (isConsumer) consumer = child;
      else await end(child);
    } else {
      const lines = text.trimEnd().split("\n");
      const missing = (): string[] => lines.filter((line) => !line.split("…").every((part) => shown.includes(part)));
      await until(60_000, () => missing().length === 0).catch(() => expect(missing(), shown).toEqual([]));
      shown = "";
    }
  }
  if (consumer !== null) await interrupt(consumer);
  expect([...unused]).toEqual([]);

  async function interrupt(child: ChildProcess): Promise<void> {
    child.kill("SIGINT");
    await end(child);
  }
});
