import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { startPolicyHost } from "../support/policy-host.ts";
import { withoutProgress } from "../support/without-progress.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = resolve(import.meta.dirname, "../..");

/** Pulumi shows a pack no changes. */
const rulesOfPacks = rules.filter(({ kind }) => kind !== "change").map(({ name }) => name);

const markdown = "shop.yaml billing --target rabbitmq@4.0 --markdown";

/** Every command, with each kind of declaration, broker and output. The files of other languages are packed, too. */
const commands = [
  "--help",
  "compile --help",
  "nothing",
  "plan shop.ts",
  "compile shop.yaml --target rabbitmq@4.0",
  "compile shop.ts --target rabbitmq@4.0",
  "compile shop.yaml --target sqs@eu-west-1 --format aws-json",
  "compile shop.yaml --target sqs@eu-west-1 --format terraform",
  "compile shop.yaml --target servicebus@standard --format emulator-config",
  "compile shop.yaml --target rabbitmq@4.3 --format toml",
  "compile broken.ts --target rabbitmq@4.3",
  "compile shop.yaml --target rabbitmq@4.3 --format definitions --output definitions.json",
  "check shop.ts --target sqs@eu-west-1",
  "check broken.ts --target rabbitmq@4.3 --format sarif",
  `contract ${markdown}`,
  "contract shop.yaml billing --target servicebus@standard --markdown",
  "graph shop.yaml --target rabbitmq@4.0 --format svg",
  "simulate shop.yaml --target rabbitmq@4.0",
  "report shop.yaml --target rabbitmq@4.0 --target sqs@eu-west-1 --output out",
  "demo --output demo",
  "explain RD101",
  "audit --definitions definitions.json",
  "leftovers shop.yaml --target rabbitmq@4.3 --definitions definitions.json",
  "diff shop.yaml --target rabbitmq@4.3 --definitions definitions.json",
  "policy --preview preview.json",
];

/** The files of the pack in docs/policy-pack.md, and its options. */
function packOfPage(): Readonly<Record<string, string>> {
  const page = readFileSync(join(root, "docs/policy-pack.md"), "utf8");
  const [policy = "", manifest = "", index = "", options = ""] = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(
    ([, text = ""]) => text,
  );
  return { "PulumiPolicy.yaml": policy, "package.json": manifest, "index.mjs": index, "options.yaml": options };
}

const importing =
  'try { console.log(Object.keys(await import("redeliver/consume")).length > 0, (await import("./shop.ts")).default.name); } catch (error) { console.log(error.message, error.__pulumiRunError); }';

const starting =
  'import("./index.mjs").then((program) => console.log(Object.keys(program.default)), (error) => console.log(error.message, error.__pulumiRunError));';

/** Runs the package on the oldest Node that it supports, on the newest, and on one that is too old. */
function onOtherNodes(folder: string, npm: (cwd: string, ...words: string[]) => string): void {
  const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const refusal = (version: string): string =>
    `Redeliver needs Node.js 22.18 or newer, and this is ${version}: install one from https://nodejs.org`;
  copyFileSync(join(root, "examples/init/index.mjs"), join(folder, "index.mjs"));
  writeFileSync(join(folder, "index.ts"), "export const workQueues: object = {};\n");
  for (const wanted of ["20", "22.18.0", "26"]) {
    const place = join(folder, "nodes", wanted);
    mkdirSync(place, { recursive: true });
    npm(place, "install", "--prefix", place, "--no-save", "--prefer-offline", `node-${platform}@${wanted}`);
    const node = join(place, `node_modules/node-${platform}/bin/node`);
    const run = (...words: string[]): readonly [number | null, string, string] => {
      const { status, stdout, stderr } = spawnSync(node, words, { cwd: folder, encoding: "utf8" });
      return [status, stdout, stderr];
    };
    const version = run("--version")[1].trim();
    expect(version.startsWith(`v${wanted}.`) || version === `v${wanted}`).toBe(true);
    const isOld = wanted === "20";
    const check = "node_modules/redeliver/dist/cli/main.cjs check shop.ts --target rabbitmq@4.3";
    const [status, checked, errors] = run(...check.split(" "));
    expect([wanted, status]).toEqual([wanted, isOld ? 2 : 0]);
    if (isOld) expect([checked, errors]).toEqual(["", `error: ${refusal(version)}\n`]);
    else expect(checked).toContain("proved   billing");
    // Pulumi shows an error with this property as its message alone.
    const [, imported] = run("--input-type=module", "--eval", importing);
    expect(imported).toBe(isOld ? `${refusal(version)} true\n` : "true shop\n");
    // The program of `redeliver init`, as Pulumi starts it.
    const [, started] = run("--input-type=module", "--eval", starting);
    expect(started).toBe(isOld ? `${refusal(version)} true\n` : "[ 'workQueues' ]\n");
  }
}

// Tests of the checkout alone do not notice a package with `.ts` entries or a missing file.
test(
  "the packed package installs into an empty folder, compiles a declaration, passes the type check without any client, and has the policy rules",
  { timeout: 900_000 },
  async () => {
    const folder = temporaryFolder("package", onTestFinished);
    const npm = (cwd: string, ...words: string[]): string =>
      execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
    const [{ filename }] = JSON.parse(npm(root, "pack", "--json", "--pack-destination", folder)) as [
      { filename: string },
    ];
    writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
    npm(folder, "install", "--no-audit", "--no-fund", "--prefer-offline", join(folder, filename));
    // What the command line alone needs is in its own files.
    const lock = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
    const { packages } = JSON.parse(lock) as { readonly packages: object };
    const installed = ["cockatiel", "fastest-levenshtein", "re2js", "redeliver", "zod"];
    expect(Object.keys(packages)).toEqual(installed.map((name) => `node_modules/${name}`));
    copyFileSync(join(root, "examples/shop.yaml"), join(folder, "shop.yaml"));
    writeFileSync(
      join(folder, "shop.ts"),
      'import { constant, defineSystem } from "redeliver";\nexport default defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from: { orders: "all" }, retry: { attempts: 2, backoff: constant("1s") } } } });\n',
    );
    writeFileSync(join(folder, "broken.ts"), 'import "redeliver";\nexport default { name: "shop" };\n');
    writeFileSync(join(folder, "preview.json"), '{ "steps": [] }');
    // The bundled commands answer as their sources do.
    for (const line of commands) {
      const words = line.split(" ");
      const answers = [join(root, "src/cli/main.ts"), join(folder, "node_modules/redeliver/dist/cli/main.cjs")].map(
        (program) => {
          const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
            cwd: folder,
            encoding: "utf8",
          });
          return { line, status, stdout, stderr: withoutProgress(stderr) };
        },
      );
      expect(answers[1]).toEqual(answers[0]);
    }
    // The clients of the brokers are optional, and the folder has none.
    for (const [target, url, library] of [
      ["rabbitmq@4.3", "amqp://guest@127.0.0.1:1/%2F", "amqplib"],
      ["sqs@eu-west-1", "http://127.0.0.1:1", "@aws-sdk/client-sqs"],
      ["servicebus@standard", "servicebus:shop", "@azure/service-bus"],
    ] as const) {
      const words = ["dead", "list", "shop.ts", "--consumer", "billing", "--target", target, "--url", url];
      const SERVICEBUS_CONNECTION_STRING = "Endpoint=sb://shop/;SharedAccessKeyName=a;SharedAccessKey=b";
      const options = { cwd: folder, encoding: "utf8", env: { ...process.env, SERVICEBUS_CONNECTION_STRING } } as const;
      const { status, stderr } = spawnSync(join(folder, "node_modules/.bin/redeliver"), words, options);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`is not installed: npm install ${library}\n`)]);
    }
    const packed = execFileSync(join(folder, "node_modules/.bin/redeliver"), ["contract", ...markdown.split(" ")], {
      cwd: folder,
      encoding: "utf8",
    });
    for (const line of ["import pika", "class SpringAmqpConsumer", '"workQueue": "shop.billing"'])
      expect(packed).toContain(line);
    // It writes no file a second time, so it cannot be among the commands above.
    const project = ["init", "--broker", "sqs", "--consumer", "billing", "--name", "shop", "--output", "project"];
    execFileSync(join(folder, "node_modules/.bin/redeliver"), project, { cwd: folder });
    const example = readFileSync(join(root, "examples/init/retries.ts"), "utf8");
    expect(readFileSync(join(folder, "project/retries.ts"), "utf8")).toBe(example);
    // The compiler reads all declarations, as it does without `skipLibCheck`. No client library of a broker is
    // installed.
    writeFileSync(
      join(folder, "consumer.ts"),
      'import { consume, permanent } from "redeliver/consume";\nimport shop from "./shop.ts";\nexport const running = await consume(shop, "billing", { target: { broker: "rabbitmq", version: "4.0" }, connection: { url: "amqp://localhost" } }, async ({ body }) => { if (body === null) throw permanent("EMPTY"); });\n',
    );
    writeFileSync(
      join(folder, "redrive.ts"),
      'import { openDeadQueue, openJournal, planLetters } from "redeliver/operate";\nimport shop from "./shop.ts";\nconst dead = await openDeadQueue({ system: shop, consumer: "billing", target: { broker: "rabbitmq", version: "4.0" } });\nexport const plan = await planLetters(dead, {});\nexport const journal = await openJournal("journal");\n',
    );
    const compilerOptions = {
      module: "nodenext",
      target: "es2024",
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["consumer.ts", "redrive.ts"] }),
    );
    const compiled = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", folder], { encoding: "utf8" });
    expect([compiled.stdout, compiled.status]).toEqual(["", 0]);
    const script =
      'const { plan } = await import("redeliver"); const { openJournal } = await import("redeliver/operate"); console.log(typeof plan, typeof openJournal);';
    expect(
      execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder, encoding: "utf8" }),
    ).toBe("function function\n");
    onOtherNodes(folder, npm);
    const own = join(folder, "policies");
    mkdirSync(own);
    // The peer dependencies and the pack's own are those of this checkout: they are large, and this test is not about
    // them.
    for (const name of ["@pulumi", "yaml"])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    // A program as `pulumi new typescript` makes it, and as it did before, with TypeScript's older resolution.
    writeFileSync(
      join(folder, "program.cts"),
      'import { defineSystem } from "redeliver";\nimport { RetryTopology } from "redeliver/pulumi";\nconsole.log(typeof defineSystem, typeof RetryTopology);\n',
    );
    for (const options of [
      ["--module", "nodenext"],
      ["--module", "commonjs", "--moduleResolution", "node10", "--ignoreDeprecations", "6.0"],
    ]) {
      const words = [...options, "--target", "es2022", "--strict", "--skipLibCheck", "--ignoreConfig", "program.cts"];
      const built = spawnSync(join(root, "node_modules/.bin/tsc6"), words, { cwd: folder, encoding: "utf8" });
      expect([built.stdout, built.status]).toEqual(["", 0]);
      expect(execFileSync(process.execPath, ["program.cjs"], { cwd: folder, encoding: "utf8" })).toBe(
        "function function\n",
      );
    }
    for (const [file, text] of Object.entries(packOfPage())) writeFileSync(join(own, file), text);
    const host = await startPolicyHost("", own);
    onTestFinished(async () => host.stop());
    const served = (await host.served()).map(({ name, level }) => [name, level] as const);
    expect(served.map(([name]) => name)).toEqual([...rulesOfPacks, "no-buckets"]);
    expect(Object.fromEntries(served)).toMatchObject({
      "retry-jitter": "disabled",
      "retry-attempts-limit": "mandatory",
      "sqs-encryption": "remediate",
    });
    const run = await runExample("examples/policies/sqs-dead-letter-queue/fails.ts");
    expect((await host.analyzeStack(run)).map(({ rule }) => rule)).toEqual(["sqs-dead-letter-queue"]);
    const { "index.mjs": index = "" } = packOfPage();
    const some = index
      .replace("import { redeliverPolicies }", "import { redeliverPolicies, retryAttemptsLimit, sqsDeadLetterQueue }")
      .replace("redeliverPolicies(options)", "redeliverPolicies({}, [retryAttemptsLimit, sqsDeadLetterQueue])");
    writeFileSync(join(own, "index.mjs"), some);
    const smaller = await startPolicyHost("", own);
    onTestFinished(async () => smaller.stop());
    expect((await smaller.served()).map(({ name }) => name)).toEqual([
      "retry-attempts-limit",
      "sqs-dead-letter-queue",
      "no-buckets",
    ]);
  },
);
