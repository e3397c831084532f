import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import type { RedriveEnd } from "../../src/dead-letters/index.ts";
import { createExportReader } from "../../src/operate/ndjson.ts";
import { at, byDeclaration, byQueue } from "../support/dead-command.ts";
import { ownJournal, start, statusOf } from "../support/dead-journal.ts";
import {
  deadQueue,
  fill,
  idsOf,
  parkedQueue,
  parkingShop,
  sentTwice,
  stage,
  workQueue,
} from "../support/dead-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { killAfter } from "../support/killed-command.ts";
import { brokers } from "../support/live.ts";
import { answerOf, runCommand } from "../support/run-command.ts";
import { standStill } from "../support/stand-still.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ownJournal();

describe.for(brokers())("letters that leave a dead queue of RabbitMQ $version", (broker) => {
  test("killed while a redrive parks them are parked by the next one, and the others are sent", async () => {
    const system = await stage(broker, parkingShop);
    const often = await fill(system, deadQueue, 1_500, 1, sentTwice);
    const others = await fill(system, deadQueue, 20, 1_501);
    const { count } = system;
    const child = start([...byDeclaration(system, "redrive"), "--wait", "0s", "--confirm", "1520"]);
    const id = String(await child.id());
    await until(60_000, async () => (await count(parkedQueue)) > 50);
    await child.kill();
    await until(60_000, async () => (await system.channel.checkQueue(deadQueue)).consumerCount === 0);
    const [parkedBefore, { mayBeDoubled: atRisk }] = [await count(parkedQueue), await statusOf(id)];
    expect([await count(workQueue), atRisk]).toEqual([0, parkedBefore < 1_500 ? 100 : expect.any(Number)]);
    const result = await answerOf<RedriveEnd>(runCommand(["dead", "resume", id, ...at(system)]));
    expect(result).toMatchObject({ code: 0, state: "done", sent: 20 });
    const parked = idsOf(await system.drain(parkedQueue));
    expect(new Set(parked)).toEqual(new Set(often));
    expect(parked.length - often.length).toBeLessThanOrEqual(result.mayBeDoubled);
    expect([idsOf(await system.drain(workQueue)), await count(deadQueue)]).toEqual([others, 0]);
  });

  const ownBroker = test.runIf(broker.containerId !== undefined);
  ownBroker("killed while their queue's leader stands still are doubled up to the number that it says", async () => {
    const system = await stage(broker, parkingShop);
    const often = await fill(system, deadQueue, 15_000, 1, sentTwice);
    const { count } = system;
    const child = start([...byDeclaration(system, "redrive"), "--wait", "0s", "--confirm", "15000"]);
    const id = String(await child.id());
    await until(60_000, async () => (await count(parkedQueue)) > 50);
    const resume = await standStill(broker, system, deadQueue);
    const copies: number[] = [];
    // Copies go to another queue, and go on until as many may be doubled as the redrive allows.
    for (let asked = 0; asked < 8; asked++) {
      copies.push(await count(parkedQueue));
      await sleep(250);
    }
    await child.kill();
    await resume();
    await until(60_000, async () => (await system.channel.checkQueue(deadQueue)).consumerCount === 0);
    const { mayBeDoubled } = await statusOf(id);
    const parked = idsOf(await system.drain(parkedQueue));
    const dead = new Set(idsOf(await system.drain(deadQueue)));
    expect(new Set([...parked, ...dead])).toEqual(new Set(often));
    expect(mayBeDoubled).toBe(100);
    expect(parked.filter((each) => dead.has(each)).length, String(copies)).toBeLessThanOrEqual(mayBeDoubled);
  });

  test("killed while they are discarded are in the queue or in the backup", { timeout: 600_000 }, async () => {
    const system = await stage(broker);
    const ids = await fill(system, deadQueue, 3_000);
    const backups: string[] = [];
    for (let kill = 0; kill < 3; kill++) {
      const left = await system.count(deadQueue);
      if (left === 0) break;
      const backup = join(temporaryFolder("taking", onTestFinished), "backup");
      backups.push(backup);
      const words = byQueue(system, "discard", "--why", "w", "--backup", backup, "--confirm", String(left));
      await killAfter(words, () => existsSync(backup) && statSync(backup).size > 1_000);
      await until(60_000, async () => (await system.letters.look(deadQueue, () => true)).consumers === 0);
    }
    const saved = backups.flatMap((file) => {
      const reader = createExportReader();
      const lines = readFileSync(file, "utf8").split("\n");
      return lines.flatMap((line) => String(reader.take(line)?.letter.properties["messageId"] ?? "") || []);
    });
    const left = idsOf(await system.drain(deadQueue));
    expect(saved.length).toBeGreaterThan(0);
    expect(new Set([...saved, ...left])).toEqual(new Set(ids));
  });
});
