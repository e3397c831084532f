import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import type { RedrivePlan } from "../../src/operate/plan.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { runCommand } from "../support/run-command.ts";
import { ask, bodiesOf, drain, fill, stage, wordsFor } from "../support/sqs/dead-stage.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

describe.for(sqsEmulators())("dead letters on $name", { timeout: 240_000 }, (emulator) => {
  test(
    "killed at any instant, a redrive loses none, and doubles no more than its window",
    { timeout: 600_000 },
    async () => {
      const system = await stage(emulator);
      const all = new Set<string>();
      let before = 0;
      const kills = 6;
      for (let kill = 1; kill <= kills; kill++) {
        for (const body of await fill(system, 40, all.size + 1)) all.add(body);
        const { letters } = JSON.parse((await ask(system, "plan")).out) as { readonly letters: number };
        const main = join(resolve(import.meta.dirname, "../.."), "src/cli/main.ts");
        const words = [...wordsFor(system, "redrive"), "--confirm", String(letters), "--wait", "0s"];
        const child = spawn(process.execPath, [main, ...words], { stdio: "ignore" });
        const ended = once(child, "exit");
        while (child.exitCode === null && (await system.lab.count(system.work("billing"))) === before)
          await new Promise((done) => setTimeout(done, 5));
        await new Promise((done) => setTimeout(done, Math.random() * 150));
        child.kill("SIGKILL");
        await ended;
        before = await system.lab.count(system.work("billing"));
      }
      const sent = bodiesOf(await drain(system, system.work("billing")));
      // Letters that a killed redrive had received are hidden for half a minute.
      const left = bodiesOf(await drain(system, system.dead("billing")));
      expect(new Set([...sent, ...left])).toEqual(all);
      expect(sent.length + left.length - all.size).toBeLessThanOrEqual(10 * kills);
      expect(new Set(left).size).toBe(left.length);
    },
  );

  test.for(["none", "per-key"])(
    "a redrive that was killed goes on until done, and touches no later letter: order %s",
    { timeout: 600_000 },
    async (order) => {
      const system = await stage(emulator, { order });
      // SQS shows only the first ten of a group of FIFO.
      const bodies = await fill(system, 20, 1, () => "one");
      const { letters, behind } = JSON.parse((await ask(system, "plan")).out) as RedrivePlan;
      expect(letters + behind).toBe(20);
      const words = ["--confirm", "20", "--rate", "1", "--wait", "0s"];
      const child = start([...wordsFor(system, "redrive"), ...words]);
      const id = String(await child.id());
      while ((await system.lab.count(system.work("billing"))) < 1 && !child.isOver())
        await new Promise((done) => setTimeout(done, 50));
      await child.kill();
      const later = await fill(system, 4, 100);
      const said = await runCommand(["dead", "resume", id, "--json"]);
      const result = JSON.parse(said.out) as { readonly mayBeDoubled: number };
      expect([said.code, result], said.error).toMatchObject([0, { state: "done", stopped: null }]);
      const sent = bodiesOf(await drain(system, system.work("billing")));
      const left = bodiesOf(await drain(system, system.dead("billing")));
      expect(new Set([...sent, ...left])).toEqual(new Set([...bodies, ...later]));
      expect(new Set(sent)).toEqual(new Set(bodies));
      expect(left).toEqual(expect.arrayContaining(later));
      expect(sent.length + left.length - bodies.length - later.length).toBeLessThanOrEqual(result.mayBeDoubled);
      expect(result.mayBeDoubled).toBeLessThanOrEqual(10);
    },
  );
});
