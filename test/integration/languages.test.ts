import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { brokers, createVhost } from "../support/live.ts";
import { createManagement, credentialsOf } from "../support/management.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Programs in YAML and Python, in Pulumi's own engine. A component test infers the plugin's schema without one.
const what = "examples/yaml and examples/python deploy with the plugin";
console.log(`[languages] ${hasPulumiCli ? "what runs" : "what does not run (there is no pulumi on PATH)"}: ${what}`);

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const folder = temporaryFolder("languages");

const broker = brokers().find(({ version }) => version === "4.3") ?? brokers()[0];
const env = {
  ...process.env,
  PULUMI_BACKEND_URL: pathToFileURL(folder).href,
  PULUMI_CONFIG_PASSPHRASE: "test",
  PULUMI_SKIP_UPDATE_CHECK: "true",
};

describe.skipIf(!hasPulumiCli || broker?.version !== "4.3")("with the plugin", { timeout: 900_000 }, () => {
  // The plugin installs the package, which has no `.ts` entries.
  beforeAll(async () => {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    cpSync(join(root, "plugin"), join(folder, "plugin"), { recursive: true });
    const manifest = join(folder, "plugin/package.json");
    const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: object };
    const packed = { ...dependencies, redeliver: `file:${join(folder, filename)}` };
    writeFileSync(manifest, JSON.stringify({ ...rest, dependencies: packed }));
    mkdirSync(join(folder, "examples"));
  }, 600_000);

  test.for(["yaml", "python"])("a program in %s deploys, and deploys again without a change", async (language) => {
    if (broker === undefined) throw new Error("there is no broker");
    const { vhost, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const cwd = join(folder, "examples", language);
    cpSync(join(root, "examples", language), cwd, { recursive: true });
    const pulumi = async (...words: readonly string[]): Promise<unknown> => run("pulumi", words, { cwd, env });
    await pulumi("install", "--no-plugins");
    await pulumi("stack", "init", language);
    const { user, password } = credentialsOf(broker.managementUrl);
    const settings = { endpoint: new URL(broker.managementUrl).origin, username: user, vhost };
    for (const [key, value] of Object.entries(settings)) await pulumi("config", "set", key, value);
    await pulumi("config", "set", "--secret", "password", password);
    await pulumi("up", "--yes", "--skip-preview", "--non-interactive");
    const queues = await createManagement(broker.managementUrl).queues(vhost);
    expect(queues.map(({ name }) => name)).toEqual(expect.arrayContaining(["shop.billing", "shop.billing.dead"]));
    await pulumi("preview", "--expect-no-changes", "--non-interactive");
  });
});
