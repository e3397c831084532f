import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { type BrokerName, brokerOf, brokers } from "../brokers/index.ts";
import { catalogue } from "../diagnostics/catalogue.ts";
import { checkSystem } from "../declare/check.ts";
import { plan } from "../plan/plan.ts";
import { proveLoaded } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { joinProject } from "./join-project.ts";
import { loadTarget } from "./load-target.ts";
import { print, writeError } from "./output.ts";
import { packagedFile, readPackaged } from "./read-packaged.ts";
import { refuse, usage } from "./refuse.ts";
import { UnwritableError, writeWhole } from "./write-file.ts";

interface InitOptions {
  readonly broker?: string;
  readonly consumer?: readonly string[];
  readonly name?: string;
  readonly output: string;
}

/**
 * Writes a project: a declaration, a project file, a Pulumi program, and a workflow that checks the declaration. It asks
 * for options that are missing. It changes no existing file, and writes nothing that `check` would refuse.
 */
export async function initCommand(options: InitOptions): Promise<number> {
  const { output, name = basename(resolve(output)) } = options;
  if (resolve(output) === resolve(packagedFile(".")))
    return usage("this is Redeliver's own folder; name another one with --output", {});
  const names = Object.keys(brokers);
  const ask = askerOf(process);
  const broker = options.broker ?? (await ask(`Broker (${names.join(", ")})`, names));
  if (broker === null) return usage(`name the broker with --broker: ${names.join(", ")}`, {});
  if (!names.includes(broker)) return usage(`${broker} is no broker; the brokers are ${names.join(", ")}`, {});
  const given =
    options.consumer?.flatMap((each) => each.split(",")) ??
    (await ask("Consumers, with blanks between", ["billing"], true))?.split(/[\s,]+/) ??
    [];
  const consumers = given.filter(Boolean);
  if (consumers.length === 0) return usage("name the consumers with --consumer, such as --consumer billing", {});

  const system = systemOf(name, consumers);
  const { exampleTarget } = brokerOf({ broker: broker as BrokerName });
  const checked = checkSystem(system);
  const planned = checked.ok ? { ...checked, value: { system: checked.value, plan: plan(checked.value) } } : checked;
  const proved = proveLoaded(planned, loadTarget(exampleTarget, "auto"));
  if (!proved.ok) return refuse(proved.diagnostics, {}, {}, exitCodes.refused);
  const template = (file: string): string => readPackaged(`examples/init/${file}`);
  const joined = await joinProject(output, broker);
  if ("usage" in joined) return usage(joined.usage, {});
  const files = {
    ".gitignore": "node_modules/\n",
    "retries.ts": `import { defineSystem } from "redeliver";\n\nexport default defineSystem(${sourceOf(system)});\n`,
    "redeliver.config.yaml": `declaration: retries.ts\nenvironments:\n  dev: { target: ${JSON.stringify(exampleTarget)} }\n`,
    ...joined.files,
    "Pulumi.yaml": template("Pulumi.yaml").replace("name: shop", () => `name: ${JSON.stringify(name)}`),
    "package.json": template(`${broker}/package.json`),
    "tsconfig.json": template("tsconfig.json"),
    ".github/workflows/retries.yml": template("retries.yml").replace("rabbitmq@4.3", exampleTarget),
  };
  const warned = [...new Set(proved.warnings.map(({ code }) => code))].map(
    (code) => `note     check warns of ${code}, ${catalogue[code].title}: npx redeliver explain ${code}`,
  );
  return write(files, output, [
    ...warned,
    ...joined.next.map((step) => `next     ${step}`),
    `next     ${installOf(files["package.json"], output)}`,
    "next     commit package-lock.json with the rest, because the workflow runs npm ci",
    `next     npx redeliver check ${join(output, "retries.ts")} --target ${exampleTarget}`,
  ]);
}

/** The command that installs the packages. A package.json that is there already may lack them. */
function installOf(packageJson: string, folder: string): string {
  const { dependencies } = JSON.parse(packageJson) as { readonly dependencies: object };
  // The version keeps npm from another package of this name.
  const names = Object.entries(dependencies).map(([name, range]) =>
    name === "redeliver" ? `${name}@${String(range).replace(/^\^(\d+\.\d+).*/, "$1")}` : name,
  );
  const missing = existsSync(join(folder, "package.json")) ? names : [];
  return ["npm install", ...(folder === "." ? [] : ["--prefix", folder]), ...missing].join(" ");
}

/** Asks at the terminal, until the answer is one of the choices. Enter takes the first. Null if nobody is there. */
function askerOf({ stdin }: NodeJS.Process) {
  // One reader for all questions, because it may have read the next answer already.
  const lines = stdin.isTTY ? createInterface({ input: stdin })[Symbol.asyncIterator]() : null;
  return async (question: string, choices: readonly string[], isOpen = false): Promise<string | null> => {
    for (; lines !== null; writeError(`one of ${choices.join(", ")}, please\n`)) {
      writeError(`${question} [${choices[0]}]: `);
      const { done, value } = await lines.next();
      if (done === true) return null;
      const answer = value.trim() || String(choices[0]);
      if (isOpen || choices.includes(answer)) return answer;
    }
    return null;
  };
}

function systemOf(name: string, consumers: readonly string[]): object {
  const consumer = (each: string): object => ({
    from: { events: [`${each}.#`] },
    retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "1m" } },
    handlerTimeout: "30s",
    deadLetter: { retain: "7d" },
  });
  return {
    name,
    sources: { events: { kind: "topic" } },
    consumers: Object.fromEntries(consumers.map((each) => [each, consumer(each)])),
  };
}

/** Data as a person would write it in TypeScript: keys without quotes, and short values on one line. */
function sourceOf(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const parts = Object.entries(value).map(
    ([key, each]) => `${/^[a-z]\w*$/i.test(key) ? key : JSON.stringify(key)}: ${sourceOf(each, inner)}`,
  );
  const line = `{ ${parts.join(", ")} }`;
  if (!line.includes("\n") && line.length <= (indent.length > 4 ? 100 : 30)) return line;
  return `{\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}}`;
}

/** @param more the lines of the answer behind those of the files */
async function write(
  files: Readonly<Record<string, string>>,
  folder: string,
  more: readonly string[],
): Promise<number> {
  if (existsSync(join(folder, "retries.ts"))) return usage(`${join(folder, "retries.ts")} exists; remove it first`, {});
  const lines: string[] = [];
  try {
    for (const [file, text] of Object.entries(files)) {
      const path = join(folder, file);
      const isKept = existsSync(path);
      if (!isKept) await writeWhole(path, text);
      lines.push(`${isKept ? "kept as it is" : "written"}  ${path}`);
    }
  } catch (cause) {
    if (cause instanceof UnwritableError) return usage(`${folder} cannot be written: ${cause.message}`, {});
    throw cause;
  }
  return print([...lines, ...more].join("\n"));
}
