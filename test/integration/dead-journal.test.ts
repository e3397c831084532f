import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";

import { type RedriveEnd, openJournal } from "../../src/dead-letters/index.ts";
import { type Child, ownJournal, seeded, start, statusOf } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, stage, workQueue } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { ask, at, byQueue } from "../support/dead-command.ts";
import { answerOf, runCommand } from "../support/run-command.ts";

/** The most letters that one killed process may double. */
const windowLetters = 100;

ownJournal();

const seeds = (process.env["REDELIVER_SEEDS"] ?? "1,2,3").split(",").map(Number);

describe.for(brokers())("a redrive on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test.for(seeds)(
    "that is killed goes on until done: none lost, later letters untouched, the rest in order; seed %i",
    async (seed) => {
      const random = seeded(seed);
      const system = await stage(broker);
      const count = 200 + 2 * Math.floor(random() * 300);
      const all = [...(await fill(system, deadQueue, count))];
      const half = count / 2;
      const rate = random() < 0.5 ? [] : ["--rate", String(100 + Math.floor(random() * 300))];
      const words = ["--reason", "EVEN", "--confirm", String(half), "--wait", random() < 0.5 ? "0s" : "50ms"];
      let child: Child = start(byQueue(system, "redrive", ...words, ...rate));
      const id = await child.id();
      let kills = 0;
      const later: string[] = [];
      for (; kills < 1 + Math.floor(random() * 3); kills++) {
        await Promise.race([child.ended, sleep(random() * (rate.length > 0 ? 4_000 : 800))]);
        if (child.isOver()) break;
        await child.kill();
        const { channel } = system;
        await until(60_000, async () => (await channel.checkQueue(deadQueue)).consumerCount === 0);
        later.push(...(await fill(system, deadQueue, 4, count + 1 + later.length)));
        // Between the last line in its journal and its end there is a moment, too.
        if ((await statusOf(String(id))).state === "done") break;
        child = start(["dead", "resume", String(id), "--json"], { RABBITMQ_PASSWORD: "guest" });
        await child.id();
      }
      const { out, error } = await child.ended;
      const result = await statusOf(String(id));
      expect(result, out + error).toMatchObject({ state: "done", reason: null, sent: half });
      const sent = idsOf(await system.drain(workQueue));
      const left = idsOf(await system.drain(deadQueue));
      const isEven = (each: string): boolean => Number(each.slice(1)) % 2 === 0;
      const doubled = sent.length - new Set(sent).size;
      expect(new Set([...sent, ...left])).toEqual(new Set([...all, ...later]));
      expect(new Set(sent)).toEqual(new Set(all.filter(isEven)));
      expect(left).toEqual([...all.filter((each) => !isEven(each)), ...later]);
      expect(doubled).toBeLessThanOrEqual(result.mayBeDoubled);
      expect(result.mayBeDoubled).toBeLessThanOrEqual(kills * windowLetters);
    },
  );

  test("that is killed before the acknowledgement of letters that it has counted sends these, too", async () => {
    const system = await stage(broker);
    const all = await fill(system, deadQueue, 40);
    const child = start(byQueue(system, "redrive", "--confirm", "40", "--rate", "10", "--wait", "0s"));
    const id = String(await child.id());
    await until(60_000, async () => (await system.count(workQueue)) > 3);
    await child.kill();
    const journal = await openJournal(process.env["REDELIVER_JOURNAL"]);
    // The kill fell between the confirms of all copies and the acknowledgements of their letters.
    await journal.change(id, { sent: 40 }, "this test", "counts them");
    await journal.close();
    const resumed = await answerOf<RedriveEnd>(runCommand(["dead", "resume", id, ...at(system)]));
    expect(resumed).toMatchObject({ code: 0, state: "done", sent: 40 });
    const sent = idsOf(await system.drain(workQueue));
    expect([new Set(sent), await system.count(deadQueue)]).toEqual([new Set(all), 0]);
    expect(resumed.mayBeDoubled).toBeGreaterThanOrEqual(30);
  });

  test("ends when another process pauses or cancels it, and has no second one beside it", async () => {
    const system = await stage(broker);
    const all = await fill(system, deadQueue, 900);
    const commanded = async (...words: readonly string[]) => answerOf(runCommand(["dead", ...words, "--json"]));
    // It would take five minutes.
    const words = ["--confirm", "900", "--rate", "3", "--wait", "0s"];
    const first = start(byQueue(system, "redrive", ...words, "--why", "after the deployment"));
    const id = String(await first.id());
    await until(60_000, async () => (await system.count(workQueue)) > 3);

    const { who, at: since } = await statusOf(id);
    const second = await ask(system, "redrive", ...words);
    expect(second).toMatchObject({ code: 1, diagnostics: [{ code: "RD816" }] });
    expect(second.text).toContain(`${id}, by ${who} since ${since}`);
    // Another machine has another journal. There the broker says it.
    const elsewhere = { REDELIVER_JOURNAL: join(mkdtempSync(join(tmpdir(), "redeliver-")), "journal") };
    const third = await start(byQueue(system, "redrive", ...words), elsewhere).ended;
    expect([third.code, third.out]).toEqual([1, expect.stringContaining(`is already running, by ${who} since`)]);

    expect(await commanded("pause", id)).toMatchObject({ code: 0, state: "paused" });
    const { code, state, sent } = await answerOf<RedriveEnd>(first.ended);
    expect([code, state]).toEqual([3, "paused"]);
    expect([await system.count(workQueue), await system.count(deadQueue)]).toEqual([sent, 900 - sent]);
    expect((await commanded("pause", id)).code).toBe(2);

    const resumed = start(["dead", "resume", id, ...at(system)]);
    await until(60_000, async () => (await system.count(workQueue)) > sent + 3);
    expect(await commanded("cancel", id)).toMatchObject({ state: "cancelled" });
    expect(await answerOf(resumed.ended)).toMatchObject({ state: "cancelled", mayBeDoubled: 0 });
    const over = await commanded("resume", id, ...at(system));
    expect(over).toMatchObject({ code: 2, usage: expect.stringContaining("is cancelled") });

    const gone = idsOf(await system.drain(workQueue));
    expect(gone).toEqual(all.slice(0, gone.length));
    expect(idsOf(await system.drain(deadQueue))).toEqual(all.slice(gone.length));
    expect(await statusOf(id)).toMatchObject({ state: "cancelled", sent: gone.length, why: "after the deployment" });
    const { events } = await statusOf(id);
    expect(events.map(({ what }) => what)).toEqual(expect.arrayContaining(["asks to pause", "asks to cancel"]));
    expect((await runCommand(["dead", "status", "--json"])).out).not.toContain("guest");
  });

  test("does not send a letter again that has died again by it, also after a kill", async () => {
    const system = await stage(broker);
    const all = await fill(system, deadQueue, 30);
    const contract = system.contract("billing");
    const decide = ({ id }: { readonly id: string }) => (id === "m1" ? "permanent" : "success");
    const consumer = await drive({ url: system.url, contract, decide });
    const words = ["--confirm", "30", "--rate", "5", "--wait", "5s", "--stop-above", "100"];
    const child = start(byQueue(system, "redrive", ...words));
    const id = String(await child.id());
    await until(60_000, () => consumer.seen.length > 3);
    await child.kill();
    const resumed = await answerOf(runCommand(["dead", "resume", id, ...at(system)]));
    expect(resumed).toMatchObject({ code: 0, state: "done", sent: 30, diedAgain: 1 });
    await until(60_000, () => new Set(consumer.seen.map((each) => each.id)).size === 30);
    await consumer.stop();
    expect(idsOf(await system.drain(deadQueue))).toEqual(["m1"]);
    expect(consumer.seen.filter((each) => each.id === "m1")).toHaveLength(1);
    expect(new Set(consumer.seen.map((each) => each.id))).toEqual(new Set(all));
  });
});
