import { expect, test } from "vitest";

import { forAllAsync } from "../support/for-all.ts";
import { foreignRun } from "../support/foreign-run.ts";
import { policyHost } from "../support/policy-host.ts";

// Feeds Pulumi's own host with resources of every type that the pack reads, and with properties of any shape. None may
// end the host. The pack must report each that it cannot read.

const host = policyHost("preset: strict\n");

test("no form of a resource ends the host, and every answer has a rule and a text", async () => {
  let unread = 0;
  await forAllAsync(60, [foreignRun], async (run) => {
    const found = [...(await host().analyze(run.resources)), ...(await host().analyzeStack(run))];
    for (const { message } of found) expect(message).toMatch(/\nfix: /);
    unread += found.filter(({ rule }) => rule === "topology-readable" || rule === "declaration-readable").length;
  });
  expect(unread).toBeGreaterThan(20);
});
