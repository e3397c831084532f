import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";

import type { RedriveResult } from "../../src/operate/redrive.ts";
import { type Child, ownJournal, seeded, start, statusOf } from "../support/dead-journal.ts";
import { deadQueue, fill, idsOf, stage, workQueue } from "../support/dead-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";
import { runCommand } from "../support/run-command.ts";

/** The most letters that one killed process may double. */
const windowLetters = 100;

function wordsFor(broker: Broker, { url }: DeployedSystem, command: string, ...more: readonly string[]): string[] {
  const place = ["--queue", deadQueue, "--url", url, "--management-url", broker.managementUrl, "--json"];
  return ["dead", command, ...place, ...more];
}

const seeds = (process.env["REDELIVER_SEEDS"] ?? "1,2,3").split(",").map(Number);

describe.for(brokers())("a redrive on RabbitMQ $version", { timeout: 300_000 }, (broker) => {
  test.for(seeds)(
    "that is killed goes on until done: none lost, later letters untouched, the rest in order; seed %i",
    async (seed) => {
      ownJournal();
      const random = seeded(seed);
      const system = await stage(broker);
      const count = 200 + 2 * Math.floor(random() * 300);
      const all = [...(await fill(system, deadQueue, count))];
      const half = count / 2;
      const rate = random() < 0.5 ? [] : ["--rate", String(100 + Math.floor(random() * 300))];
      const words = ["--reason", "EVEN", "--confirm", String(half), "--wait", random() < 0.5 ? "0s" : "50ms"];
      let child: Child = start(wordsFor(broker, system, "redrive", ...words, ...rate));
      const id = await child.id();
      expect(id, (await Promise.race([child.ended, sleep(0)]))?.out).not.toBeNull();
      let kills = 0;
      const later: string[] = [];
      for (; kills < 1 + Math.floor(random() * 3); kills++) {
        await Promise.race([child.ended, sleep(random() * (rate.length > 0 ? 1_500 : 300))]);
        if (child.isOver()) break;
        await child.kill();
        const { channel } = system;
        await until(60_000, async () => (await channel.checkQueue(deadQueue)).consumerCount === 0);
        later.push(...(await fill(system, deadQueue, 4, count + 1 + later.length)));
        child = start(["dead", "resume", String(id), "--json"], { RABBITMQ_PASSWORD: "guest" });
        await child.id();
      }
      const said = await child.ended;
      const result = JSON.parse(said.out) as RedriveResult;
      expect([said.code, result], said.error).toMatchObject([0, { state: "done", stopped: null }]);
      const sent = idsOf(await system.drain(workQueue));
      const left = idsOf(await system.drain(deadQueue));
      const isEven = (each: string): boolean => Number(each.slice(1)) % 2 === 0;
      const doubled = sent.length - new Set(sent).size;
      console.log(JSON.stringify({ version: broker.version, seed, kills, count, doubled, ...result }));
      expect(new Set([...sent, ...left])).toEqual(new Set([...all, ...later]));
      expect(new Set(sent)).toEqual(new Set(all.filter(isEven)));
      expect(left).toEqual([...all.filter((each) => !isEven(each)), ...later]);
      expect(doubled).toBeLessThanOrEqual(result.mayBeDoubled);
      expect(result.mayBeDoubled).toBeLessThanOrEqual(kills * windowLetters);
      expect(result.sent + result.unrecorded).toBe(half);
    },
  );
});
