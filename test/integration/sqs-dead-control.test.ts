import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

import { ownJournal, start } from "../support/dead-journal.ts";
import { runCommand } from "../support/run-command.ts";
import { fill, stage, wordsFor } from "../support/sqs/dead-stage.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

const folder = mkdtempSync(join(tmpdir(), "redeliver-profiles-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The environment of a person with a profile of their own. The SDK warns of keys beside it. */
function operator(profile: string): Record<string, string> {
  const file = join(folder, "credentials");
  const lines = ["ann", "bob"].map((name) => `[${name}]\naws_access_key_id=test\naws_secret_access_key=test\n`);
  writeFileSync(file, lines.join("\n"));
  return { AWS_PROFILE: profile, AWS_SHARED_CREDENTIALS_FILE: file, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
}

describe.for(sqsEmulators())("a redrive on $name", { timeout: 240_000 }, (emulator) => {
  test("keeps others away from the queue, and goes on by their hands, also with another profile", async () => {
    const system = await stage(emulator);
    await fill(system, 8);
    const ann = start(
      [...wordsFor(system, "redrive"), "--confirm", "8", "--rate", "1", "--wait", "0s"],
      operator("ann"),
    );
    const id = String(await ann.id());
    const second = await runCommand([...wordsFor(system, "redrive"), "--confirm", "8"], operator("bob"));
    expect([second.code, second.out]).toEqual([1, expect.stringMatching(new RegExp(`RD816[^]*${id}`))]);
    expect((await runCommand(["dead", "pause", id])).code).toBe(0);
    expect((await ann.ended).code).toBe(3);
    const resumed = await runCommand(["dead", "resume", id, "--json"], operator("bob"));
    expect([resumed.code, resumed.out]).toEqual([0, expect.stringContaining('"done"')]);
    expect(await system.lab.count(system.work("billing"))).toBe(8);
  });
});
