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
    expect(kept.out.match(/^kept as it is/gm)).toHaveLength(7);
    expect(kept.out).toMatch(/^next {5}npm install --prefix \S+ .*@pulumi\/pulumi .*redeliver$/m);
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

test("the compiler accepts every project as it is written", { timeout: 120_000 }, () => {
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
