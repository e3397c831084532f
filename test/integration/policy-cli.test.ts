import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";

import { createVhost } from "../support/live.ts";
import { createCliStack, hasPulumiCli } from "../support/pulumi-cli.ts";

// The pack in Pulumi's own policy host, without the command line, is tested in test/policy.
const how = hasPulumiCli
  ? "pulumi preview --policy-pack and pulumi policy analyze"
  : "not the policy pack under pulumi preview and pulumi policy analyze (there is no pulumi on PATH)";
console.log(`[policy] what runs: ${how}`);

const pack = fileURLToPath(new URL("../../policies", import.meta.url));
const broker = inject("brokers").find(({ version }) => version === "4.3");

test.skipIf(!hasPulumiCli || broker === undefined)(
  "the pack lets the example stack pass, and stops it where an organisation allows one attempt",
  { timeout: 300_000 },
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
      await stack.up({ policyPacks: [pack] });
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
