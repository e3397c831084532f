import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { rules } from "../../src/policy/rules.ts";
import { runExample } from "../support/example-program.ts";
import { startPolicyHost } from "../support/policy-host.ts";

const root = resolve(import.meta.dirname, "../..");

/** What an update does is shown to no pack. */
const rulesOfPacks = rules.filter(({ kind }) => kind !== "change").map(({ name }) => name);

/** The files of the pack in docs/policy-pack.md, and its options. */
function packOfPage(): Readonly<Record<string, string>> {
  const page = readFileSync(join(root, "docs/policy-pack.md"), "utf8");
  const [policy = "", manifest = "", index = "", options = ""] = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(
    ([, text = ""]) => text,
  );
  return { "PulumiPolicy.yaml": policy, "package.json": manifest, "index.mjs": index, "options.yaml": options };
}

// Shipping .ts entries, or forgetting a file, goes unnoticed for as long as only the checkout is tested.
test(
  "the packed package, installed into an empty folder, compiles a declaration, is imported and type-checked without any client, and has rules for policy packs",
  { timeout: 900_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "redeliver-package-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const npm = (cwd: string, ...words: string[]): string =>
      execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
    const [{ filename }] = JSON.parse(npm(root, "pack", "--json", "--pack-destination", folder)) as [
      { filename: string },
    ];
    writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
    npm(folder, "install", "--no-audit", "--no-fund", "--prefer-offline", join(folder, filename));
    copyFileSync(join(root, "examples/shop.yaml"), join(folder, "shop.yaml"));
    writeFileSync(
      join(folder, "shop.ts"),
      'import { constant, defineSystem } from "redeliver";\nexport default defineSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: { from: { orders: "all" }, retry: { attempts: 2, backoff: constant("1s") } } } });\n',
    );
    for (const file of ["shop.yaml", "shop.ts"]) {
      const child = spawnSync(
        join(folder, "node_modules/.bin/redeliver"),
        ["compile", file, "--target", "rabbitmq@4.0"],
        { cwd: folder, encoding: "utf8" },
      );
      expect(child.status, child.stderr).toBe(0);
      expect(JSON.parse(child.stdout)).toMatchObject({ target: "rabbitmq@4.0", contracts: [{ consumer: "billing" }] });
    }
    // The compiler reads every declaration, as it does unless it is told to skip those of libraries; no client of a broker is installed.
    writeFileSync(
      join(folder, "consumer.ts"),
      'import { consume, permanent } from "redeliver/consume";\nimport shop from "./shop.ts";\nexport const running = await consume(shop, "billing", { target: { broker: "rabbitmq", version: "4.0" }, connection: { url: "amqp://localhost" } }, async ({ body }) => { if (body === null) throw permanent("EMPTY"); });\n',
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
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    const compiled = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", folder], { encoding: "utf8" });
    expect([compiled.stdout, compiled.status]).toEqual(["", 0]);
    const script =
      'const { plan, checkSystem } = await import("redeliver"); console.log(typeof plan, typeof checkSystem);';
    expect(
      execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder, encoding: "utf8" }),
    ).toBe("function function\n");
    const own = join(folder, "policies");
    mkdirSync(own);
    // The peers are those that are installed here: they are large, and not what is tested.
    symlinkSync(join(root, "node_modules/@pulumi"), join(folder, "node_modules/@pulumi"));
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
