import { describe, expect, test } from "vitest";

import type { RedrivePlan } from "../../src/operate/plan.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { until } from "../support/deployed-system.ts";
import { killAfter } from "../support/killed-command.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { ask, bodiesOf, drain, fill, stage, wordsFor } from "../support/sqs/dead-stage.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

ownJournal();

describe.for(sqsEmulators())("dead letters on $name", (emulator) => {
  test(
    "killed at any instant, a redrive loses none, and doubles no more than its window",
    { timeout: 600_000 },
    async () => {
      const system = await stage(emulator);
      const all = new Set<string>();
      const kills = 6;
      for (let kill = 1; kill <= kills; kill++) {
        for (const body of await fill(system, 40, all.size + 1)) all.add(body);
        const { letters } = await ask<{ readonly letters: number }>(system, "plan");
        const words = [...wordsFor(system, "redrive"), "--confirm", String(letters), "--wait", "0s"];
        const before = await system.lab.count(system.work("billing"));
        await killAfter(words, async () => (await system.lab.count(system.work("billing"))) !== before, 150);
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
      const { letters, behind } = await ask<RedrivePlan>(system, "plan");
      expect(letters + behind).toBe(20);
      const words = ["--confirm", "20", "--rate", "1", "--wait", "0s"];
      const child = start([...wordsFor(system, "redrive"), ...words]);
      const id = String(await child.id());
      await until(60_000, async () => child.isOver() || (await system.lab.count(system.work("billing"))) > 0);
      await child.kill();
      const later = await fill(system, 4, 100);
      const result = await answerOf<RedriveResult>(runCommand(["dead", "resume", id, "--json"]));
      expect(result, result.text).toMatchObject({ code: 0, state: "done", stopped: null });
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
