import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { catalogue } from "../../src/diagnostics/catalogue.ts";
import { inFolderOfItsOwn, runCommand } from "../support/run-command.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = inFolderOfItsOwn("help");
beforeAll(() => {
  for (const [name, file] of [
    ["shop.yaml", "portable.yaml"],
    ["outage.yaml", "outage.yaml"],
    ["definitions.json", "hand-written.json"],
  ] as const)
    copyFileSync(join(root, "examples", file), join(folder, name));
  writeFileSync(join(folder, "preview.json"), '{ "steps": [] }');
});

/** Every command, with those below it. */
async function commandsBelow(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await runCommand([...words, "--help"]);
  const [, list = ""] = /^Commands:\n((?: .*\n)*)/m.exec(out) ?? [];
  const found = words.length === 0 ? [] : [words.join(" ")];
  for (const [, name = ""] of list.matchAll(/^ {2}(?!help )([a-z]+) /gm))
    found.push(...(await commandsBelow(...words, name)));
  return found;
}

test("the help of each command has examples, and each of them is right", async () => {
  const commands = await commandsBelow();
  expect(commands).toEqual(expect.arrayContaining(["check", "dead", "dead list", "dead edit"]));
  const project = "declaration: shop.yaml\nenvironments: { prod: { target: rabbitmq@4.3 } }\n";
  for (const command of commands) {
    // The other examples work without a project file.
    if (command === "lock") writeFileSync("redeliver.config.yaml", project);
    else rmSync("redeliver.config.yaml", { force: true });
    const help = (await runCommand([...command.split(" "), "--help"])).out;
    const examples = [...help.matchAll(/^ {2}\$ redeliver (.*)$/gm)].map(([, words = ""]) => words);
    expect(examples.length, command).toBeGreaterThan(0);
    for (const example of examples) {
      for (const [flag] of command === "dead" ? [] : example.matchAll(/--[a-z-]+/g)) expect(help).toContain(flag);
      // These need a broker, or a redrive.
      if (/--url|^dead /.test(example)) continue;
      const said = await runCommand(example.replace(/ >.*/, "").split(" "));
      // The preview has nothing to judge.
      const expected = command === "policy" ? 2 : 0;
      expect([example, said.code, said.error.includes("error: ")]).toEqual([example, expected, false]);
    }
  }
});

test("the usage shows a file as optional if a project file can name it", async () => {
  for (const command of await commandsBelow()) {
    const { out } = await runCommand([...command.split(" "), "--help"]);
    const isAboutBroker = ["audit", "adopt"].includes(command);
    expect([command, out.includes("--env <name>")]).toEqual([
      command,
      isAboutBroker || /^Usage: .* \[file\]/.test(out),
    ]);
    expect(out).not.toMatch(/^Usage: .*<file>/);
  }
});

test("a mistyped option is named before a missing one, with the right one beside it", async () => {
  const mistyped = await runCommand(["check", "shop.yaml", "--taget", "rabbitmq@4.3"]);
  expect([mistyped.code, mistyped.error]).toEqual([
    2,
    expect.stringMatching(/^error: unknown option '--taget'\n\(Did you mean --target\?\)/),
  ]);
  const missing = await runCommand(["check", "shop.yaml"]);
  expect([missing.code, missing.error]).toEqual([
    2,
    expect.stringContaining("required option '-t, --target <target>'"),
  ]);
});

test.for([
  ["validate shop.yaml", "check"],
  ["up", "compile, or pulumi up"],
  ["shop.yaml", "check shop.yaml"],
  ["-v", "--version"],
  ["check --file shop.yaml", "check <file>"],
  ["check shop.yaml --broker rabbitmq@4.3", "--target"],
  ["check shop.yaml --target rabbitmq 4.3", "--target rabbitmq@4.3"],
  ["check shop.yaml --output-format json", "--format"],
  ["simulate shop.yaml --outage 10m", "--scenario"],
  ["audit definitions.json", "--definitions definitions.json"],
  ["audit http://localhost:15672", "--url http://localhost:15672"],
  ["init shop", "--output shop"],
  ["dlq", "dead"],
  ["destroy", "pulumi destroy"],
  ["check shop.yaml rabbitmq:4.3", "--target rabbitmq@4.3"],
  ["init rabbitmq --consumer a", "--broker rabbitmq"],
  ["check shop.yaml -target rabbitmq@4.3", "--target"],
  ["check shop.yaml -target=rabbitmq@4.3", "--target"],
  ["simulate shop.yaml -t rabbitmq@4.3 -scenario outage.yaml", "--scenario"],
  ["dead list -url amqp://localhost", "--url"],
] as const)("%s, as in other tools, gets the right word", async ([words, meant]) => {
  const { code, out, error } = await runCommand(words.split(" "));
  expect([code, out, error.split("\n")[1]]).toEqual([2, "", `(Did you mean ${meant}?)`]);
});

test.each([
  ["jitter", "about it are RD614 (No whole second of jitter), "],
  ["dead-letter", "RD412 (Dead letters have no route)"],
  ["hello", '"hello"; https://redeliver.dev/0.1/diagnostics has all codes'],
  ["§§§§", '"§§§§"; https://redeliver.dev/0.1/diagnostics has all codes'],
  ["RD999", "the nearest are RD109"],
])("explain %s, which is no code, names those about it", async (word, answer) => {
  const { code, error } = await runCommand(["explain", word]);
  expect([code, error]).toEqual([2, expect.stringContaining(answer)]);
});

test("a command without its argument shows one", async () => {
  const { code, error } = await runCommand(["explain"]);
  expect([code, error]).toEqual([
    2,
    expect.stringMatching(/^error: missing .* 'code', as in redeliver explain RD101\n/),
  ]);
});

test.for([
  ["check shop.yml --target rabbitmq@4.3", "  fix  did you mean shop.yaml?\n"],
  ["check shop --target rabbitmq@4.3", "  fix  did you mean shop.yaml?\n"],
  ["check examples/shop.yaml --target rabbitmq@4.3", `/examples/shop.yaml?\n`],
  ["compile shop.yaml --target rabbitmq@4.3 --format terrafrom", "Did you mean terraform? Allowed choices are json, "],
  ["graph shop.yaml --target rabbitmq@4.3 --format svgg", "Did you mean svg? Allowed choices are mermaid, "],
  ["completion bsh", "Did you mean bash? Allowed choices are "],
  ["check shop.yaml --target rabbitmq@4.3 --strategy stage", "did you mean staged? The strategies are auto, "],
  ["audit --definitions shop.yaml", "this is a declaration, and no export"],
  ["audit --sqs shop.yaml", "redeliver check shop.yaml --target sqs@eu-west-1"],
  ["diff shop.yaml --target rabbitmq@4.3 --definitions shop.yaml", "this is a declaration, and no export"],
  ["simulate shop.yaml --target rabbitmq@4.3 --scenario shop.yaml", "this is a declaration, and a scenario has"],
] as const)("%s gets one answer, with the right word", async ([words, answer]) => {
  const { code, out, error } = await runCommand(words.split(" "));
  expect([code, out, error]).toEqual([2, "", expect.stringContaining(answer)]);
  expect(error.match(/^error/gm)).toHaveLength(1);
});

test("an audit of declarations in JSON and TypeScript names check", async () => {
  writeFileSync("shop.json", JSON.stringify({ name: "shop", consumers: { billing: {} } }));
  copyFileSync(join(root, "examples/init/retries.ts"), "retries.ts");
  for (const file of ["shop.json", "retries.ts"]) {
    const { code, error } = await runCommand(["audit", "--definitions", file]);
    expect([code, error]).toEqual([2, expect.stringContaining(`redeliver check ${file} --target rabbitmq@4.3`)]);
    rmSync(file);
  }
});

test("--version prints the version of the package", async () => {
  const said = await runCommand(["--version"]);
  expect(said).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), error: "" });
});

const typed = (script: string, words: readonly string[]): string =>
  `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`;
/** Prints the completions of the last word, one a line. */
const asked: Readonly<Record<string, (script: string, words: readonly string[]) => string>> = {
  bash: (script, words) => `${typed(script, words)}; _redeliver; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // As the editor of zsh does: it asks in the registered way, and leaves out the words with another beginning.
  zsh: (script, words) =>
    `${typed(script, words)}; compgen \${=_comps[redeliver]#_bash_complete} | grep -e '^${words.at(-1)}'`,
  fish: (script, words) => `source ${script}; complete -C '${words.join(" ")}' | string split -f1 \\t`,
};

describe.for(Object.keys(asked))("the completion of %s", (shell) => {
  const isHere = spawnSync(shell, ["-c", "true"]).status === 0;
  if (!isHere) console.warn(`The completion of ${shell} was NOT tried: it is not installed here.`);
  test.runIf(isHere)("knows commands, options and values", async () => {
    const script = join(folder, `completion.${shell}`);
    writeFileSync(script, (await runCommand(["completion", shell])).out);
    const completed = (...words: string[]): string[] => {
      const child = spawnSync(shell, ["-c", asked[shell]?.(script, words) ?? ""], { cwd: folder, encoding: "utf8" });
      expect(child.stderr).toBe("");
      return child.stdout
        .split("\n")
        .filter((line) => line !== "")
        .toSorted();
    };
    expect(completed("redeliver", "co")).toEqual(["compile", "completion", "contract"]);
    expect(completed("redeliver", "check", "shop.yaml", "--ta")).toEqual(["--target"]);
    expect(completed("redeliver", "check", "--format", "")).toEqual(["github", "json", "sarif", "text"]);
    expect(completed("redeliver", "report", "--target", "sq")).toEqual(["sqs@eu-west-1"]);
    expect(completed("redeliver", "audit", "--as")).toEqual(["--as-version"]);
    expect(completed("redeliver", "check", "--strategy", "s")).toEqual(["scheduled", "staged"]);
    expect(completed("redeliver", "check", "--from-target", "sq")).toEqual(["sqs@eu-west-1"]);
    expect(completed("redeliver", "compile", "--format", "")).toEqual([
      "aws-json",
      "definitions",
      "emulator-config",
      "json",
      "terraform",
    ]);
    expect(completed("redeliver", "init", "--broker", "s")).toEqual(["servicebus", "sqs"]);
    expect(completed("redeliver", "completion", "b")).toEqual(["bash"]);
    expect(completed("redeliver", "explain", "RD32")).toEqual(
      Object.keys(catalogue).filter((code) => code.startsWith("RD32")),
    );
    expect(completed("redeliver", "dead", "re")).toEqual(["redrive", "resume"]);
    expect(completed("redeliver", "dead", "list", "--li")).toEqual(["--limit"]);
    expect(completed("redeliver", "dead", "list", "shop.yaml", "-t", "sq")).toEqual(["sqs@eu-west-1"]);
    expect(completed("redeliver", "dead", "plan", "--wa")).toEqual(["--wait"]);
    expect(completed("redeliver", "plan", "--wa")).toEqual(["--watch"]);
  });
});
