import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createCliStack, hasPulumiCli } from "../support/pulumi-cli.ts";

// test/policy tests the pack in Pulumi's own policy host, without the command line.
const how = hasPulumiCli
  ? "pulumi preview --policy-pack, pulumi policy analyze, and redeliver policy on pulumi preview --json"
  : "neither the policy pack under pulumi preview and pulumi policy analyze nor redeliver policy on pulumi preview --json (there is no pulumi on PATH)";
console.log(`[policy] what runs: ${how}`);

interface PreviewVerdict {
  readonly ok: boolean;
  readonly resources: number;
  readonly unknown: readonly string[];
  readonly violations: readonly { readonly rule: string; readonly level: string }[];
}

/** Returns the command's JSON. Its exit code must agree with `ok`. */
function redeliverPolicy(words: readonly string[]): PreviewVerdict {
  const cli = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const child = spawnSync(process.execPath, [cli, "policy", ...words], { encoding: "utf8", maxBuffer: 2 ** 28 });
  const verdict = JSON.parse(child.stdout) as PreviewVerdict;
  expect(child.status, child.stderr).toBe(verdict.ok ? 0 : 1);
  return verdict;
}

const pack = fileURLToPath(new URL("../../policies", import.meta.url));
const broker = inject("brokers").find(({ version }) => version === "4.3");

test.skipIf(!hasPulumiCli || broker === undefined)(
  "the pack passes the example stack, and stops it if the options allow only one attempt",
  async () => {
    if (broker === undefined) throw new Error("skipped without it");
    const { vhost, dispose } = await createVhost(broker);
    const folder = await mkdtemp(join(tmpdir(), "redeliver-policy-"));
    const { stack, pulumi, remove } = await createCliStack(broker, vhost);
    try {
      const oneAttempt = join(folder, "one-attempt.json");
      const rule = "retry-attempts-limit";
      await writeFile(oneAttempt, JSON.stringify({ [rule]: { enforcementLevel: "mandatory", max: 1 } }));
      const usual = ["--policy-pack", pack, "--stack", stack.name];
      const strict = [...usual, "--policy-pack-config", oneAttempt];
      await stack.preview({ policyPacks: [pack] });
      await expect(stack.preview({ policyPacks: [pack], policyPackConfigs: [oneAttempt] })).rejects.toThrow(rule);
      // Judges a first preview, then a preview of deployed resources. The command must report the same as the pack.
      const judge = async (...words: readonly string[]): Promise<PreviewVerdict> => {
        const preview = join(folder, "preview.json");
        await writeFile(preview, await pulumi("preview", "--json", "--show-sames", "--stack", stack.name));
        return redeliverPolicy(["--preview", preview, "--json", ...words]);
      };
      const options = join(folder, "one-attempt.yaml");
      await writeFile(options, `rules: { ${rule}: { enforcementLevel: mandatory, max: 1 } }\n`);
      expect(await judge()).toMatchObject({ ok: true });
      await stack.up({ policyPacks: [pack] });
      const usually = await judge();
      expect(usually).toMatchObject({ ok: true, unknown: [] });
      expect(usually.resources).toBeGreaterThan(10);
      const refused = await judge("--config", options);
      expect(refused.ok).toBe(false);
      const mandatory = refused.violations.filter(({ level }) => level === "mandatory");
      expect(new Set(mandatory.map((each) => each.rule))).toEqual(new Set([rule]));
      await pulumi("policy", "analyze", ...usual);
      await expect(pulumi("policy", "analyze", ...strict)).rejects.toMatchObject({
        stdout: expect.stringContaining(rule),
      });
    } finally {
      await remove();
      await dispose();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
