import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { runProgram } from "../support/pulumi.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = temporaryFolder("init");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
/** The settings that each program asks for, by the project's name. */
const config = {
  "redeliver:endpoint": "http://localhost:15672",
  "redeliver:username": "guest",
  "redeliver:password": "guest",
  "redeliver:namespaceId":
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop",
};

describe.for(Object.entries(brokers))("redeliver init for %s", ([broker, { exampleTarget }]) => {
  const project = join(folder, broker);
  const init = async (...words: string[]): ReturnType<typeof runCommand> =>
    runCommand(["init", "--broker", broker, "--name", "shop", "--output", project, ...words]);

  test("writes a project whose declaration passes check, and whose workflow checks it for the target", async () => {
    const said = await init("--consumer", "billing", "two-words");
    expect([said.code, said.error]).toEqual([0, ""]);
    expect(said.out).toContain(`next     npm install --prefix ${project}\n`);
    const files = [
      ".github",
      ".gitignore",
      "Pulumi.yaml",
      "index.mjs",
      "index.ts",
      "package.json",
      "redeliver.config.yaml",
      "retries.ts",
    ];
    expect(readdirSync(project).toSorted()).toEqual([...files, "tsconfig.json"]);
    const checked = await runCommand(["check", join(project, "retries.ts"), "--target", exampleTarget]);
    expect(checked.out).toMatch(/^proved {3}billing: .*\n(?: .*\n)*proved {3}two-words: /m);
    const codes = [...checked.error.matchAll(/^warning\[(\w+)\]/gm)].map(([, code]) => code);
    expect([...said.out.matchAll(/^note {5}check warns of (\w+)/gm)].map(([, code]) => code)).toEqual([
      ...new Set(codes),
    ]);
    const workflow = readFileSync(join(project, ".github/workflows/retries.yml"), "utf8");
    expect(workflow).toContain(`npx redeliver check retries.ts --target ${exampleTarget} --format sarif`);
  });

  test("changes nothing where a declaration is, and keeps each other file", async () => {
    writeFileSync(join(project, "package.json"), "{}");
    const again = await init("--consumer", "mail");
    expect([again.code, again.out]).toEqual([2, ""]);
    rmSync(join(project, "retries.ts"));
    const kept = await init("--consumer", "billing");
    // The program that is there is the one that init wrote.
    expect(kept.out.match(/^kept as it is/gm)).toHaveLength(8);
    expect(kept.out).not.toContain("add this line");
    // Without the version, npm would install another package of this name.
    expect(kept.out).toMatch(/^next {5}npm install --prefix \S+ .*@pulumi\/pulumi .*redeliver@0\.1$/m);
    expect(readFileSync(join(project, "package.json"), "utf8")).toBe("{}");
    // The templates of the programs are checked and run with the declaration of one consumer.
    expect(readFileSync(join(project, "retries.ts"), "utf8")).toBe(read("examples/init/retries.ts"));
  });

  test("has a program that makes the work queues", async () => {
    const file = join(root, "examples/init", broker, "index.ts");
    const run = await runProgram(() => import(/* @vite-ignore */ file), { preview: false, config });
    expect(run.error).toBeUndefined();
    expect(Object.keys((run.outputs?.["workQueues"] ?? {}) as object)).toEqual(["billing"]);
    const { dependencies, devDependencies } = JSON.parse(read(`examples/init/${broker}/package.json`)) as Record<
      "dependencies" | "devDependencies",
      Readonly<Record<string, string>>
    >;
    const own = JSON.parse(read("package.json")) as typeof devDependencies & {
      readonly version: string;
      readonly devDependencies: typeof devDependencies;
    };
    const { redeliver, ...others } = dependencies;
    expect(redeliver).toBe(`^${own.version}`);
    for (const [name, range] of Object.entries(others)) expect(own.devDependencies[name], name).toBe(range);
  });
});

test("the compiler accepts every project as it is written", () => {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const { compilerOptions } = JSON.parse(read("examples/init/tsconfig.json")) as { compilerOptions: object };
  const { compilerOptions: own } = JSON.parse(read("tsconfig.json")) as {
    compilerOptions: { paths: Readonly<Record<string, readonly [string]>> };
  };
  // The package itself is the source of this checkout, which is stricter.
  const paths = Object.fromEntries(Object.entries(own.paths).map(([name, [file]]) => [name, [join(root, file)]]));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...compilerOptions, paths } }));
  const compiled = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", folder], { encoding: "utf8" });
  expect([compiled.stdout, compiled.status]).toEqual(["", 0]);
});

/** A project with these files, and the answer of init there. */
async function initBeside(there: Readonly<Record<string, string>>) {
  const project = mkdtempSync(join(folder, "there-"));
  for (const [file, text] of Object.entries(there)) writeFileSync(join(project, file), text);
  const said = await runCommand(["init", "--broker", "rabbitmq", "--consumer", "billing", "--output", project]);
  const written = (file: string): string => readFileSync(join(project, file), "utf8");
  for (const [file, text] of Object.entries(there)) expect(written(file)).toBe(text);
  return { ...said, project, written };
}
const compiled = "name: shop\nruntime:\n  name: nodejs\n  options:\n    packagemanager: npm\n";

test.for([
  [
    "pulumi new typescript made",
    { "package.json": '{ "main": "index.ts" }', "index.ts": "// mine" },
    'index.ts: export * from "./deploy";',
    "",
  ],
  [
    "has modules",
    { "package.json": '{ "type": "module" }', "index.ts": "// mine" },
    'index.ts: export * from "./deploy.ts";',
    ".ts",
  ],
  ["pulumi new javascript made", { "package.json": "{}", "index.js": "// mine" }, 'index.js: require("./deploy");', ""],
] as const)(
  "in a project that %s, init has a program of its own and names the line to add",
  async ([, there, line, ending]) => {
    const { out, project, written } = await initBeside({ ...there, "Pulumi.yaml": compiled });
    expect(out.match(/(?<=^next {5}add this line to ).*/m)?.[0]).toBe(line);
    expect(written("deploy.ts")).toContain(`from "./retries${ending}";`);
    expect(readdirSync(project)).not.toContain("index.mjs");
  },
);

test("beside a program without Pulumi, init starts its own one", async () => {
  const { out, written } = await initBeside({ "package.json": '{ "type": "commonjs" }', "index.ts": "// mine" });
  expect(out).not.toContain("add this line");
  expect(out).toContain('next     write "type": "module" in place of "commonjs" in package.json\n');
  expect(written("index.mjs")).toContain('import("./deploy.ts")');
  expect(written("deploy.ts")).toContain('from "./retries.ts";');
});

test.for([
  [
    "a program in another language",
    { "Pulumi.yaml": "name: shop\nruntime: # ours\n  options: { toolchain: pip }\n  name: python\n" },
    "Pulumi.yaml is for a program in python",
  ],
  [
    "another deploy.ts",
    { "Pulumi.yaml": compiled, "index.ts": "// mine", "deploy.ts": "// mine" },
    "deploy.ts is there",
  ],
  ["another index.mjs", { "index.mjs": "// mine" }, "index.mjs is there, and Pulumi would start it"],
] as const)("init refuses a folder with %s, and writes nothing", async ([, there, reason]) => {
  const { code, out, error, project } = await initBeside(there);
  expect([code, out]).toEqual([2, ""]);
  expect(error).toContain(`${reason}`);
  expect(error).toContain("name a folder of its own with --output");
  expect(readdirSync(project).toSorted()).toEqual(Object.keys(there).toSorted());
});

test("the workflow is that of the docs", () => {
  const [, block = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(read("docs/ci.md")) ?? [];
  expect(read("examples/init/retries.yml")).toBe(block.replace("shop.yaml", "retries.ts"));
});

test("consumers with a comma between them are several", async () => {
  const project = mkdtempSync(join(folder, "comma-"));
  const words = ["--name", "shop", "--output", project, "--consumer", "mail,audit", "billing"];
  expect(await runCommand(["init", "--broker", "rabbitmq", ...words])).toMatchObject({ code: 0, error: "" });
  const checked = await runCommand(["check", join(project, "retries.ts"), "--target", "rabbitmq@4.3"]);
  expect(checked.out.match(/(?<=^proved {3})\w+/gm)).toEqual(["mail", "audit", "billing"]);
});

test.for([
  [["--broker", "sqs", "--consumer", "a b"], 1, "RD204"],
  [["--broker", "kafka", "--consumer", "a"], 2, "the brokers are rabbitmq, sqs, servicebus"],
  [["--consumer", "a"], 2, "name the broker with --broker"],
  [["--broker", "sqs"], 2, "name the consumers with --consumer"],
  [["--broker", "sqs", "--consumer", ""], 2, "name the consumers with --consumer"],
] as const)("init %j is refused, and writes nothing", async ([words, code, reason]) => {
  const said = await runCommand(["init", ...words, "--output", join(folder, "nowhere")]);
  expect([said.code, said.out]).toEqual([code, ""]);
  expect(said.error).toContain(reason);
  expect(readdirSync(folder)).not.toContain("nowhere");
});

test("init writes nothing into Redeliver's own folder", async () => {
  const before = readdirSync(root);
  try {
    const said = await runCommand(["init", "--broker", "sqs", "--consumer", "a", "--output", root]);
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.error).toContain("name another one with --output");
  } finally {
    for (const file of readdirSync(root)) if (!before.includes(file)) rmSync(join(root, file));
  }
});

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
if (!hasTerminal) console.warn("The questions of init were NOT tried: there is no script of util-linux here.");

test.runIf(hasTerminal).for([
  ["kafka\n\n\n", "rabbitmq@4.3", ["billing"]],
  ["sqs\nmail, audit\n", "sqs@eu-west-1", ["mail", "audit"]],
] as const)("at a terminal init asks until it knows the answer: %j", async ([input, target, consumers]) => {
  const project = mkdtempSync(join(folder, "asked-"));
  const words = [process.execPath, join(root, "src/cli/main.ts"), "init", "--name", "shop", "--output", project];
  const said = spawnSync("script", ["-qec", words.join(" "), "/dev/null"], { input, encoding: "utf8" });
  expect([said.status, said.stdout.includes("one of rabbitmq, sqs, servicebus, please")]).toEqual([
    0,
    input.startsWith("kafka"),
  ]);
  const checked = await runCommand(["check", join(project, "retries.ts"), "--target", target]);
  expect(checked.out.match(/(?<=^proved {3})\w+/gm)).toEqual(consumers);
});
