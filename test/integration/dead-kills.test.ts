import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { windowLetters } from "../../src/brokers/rabbitmq/operate/move.ts";
import { openJournal } from "../../src/dead-letters/index.ts";
import { ownJournal, seeded, start } from "../support/dead-journal.ts";
import { deadQueue, fill, stage, takeAll, workQueue } from "../support/dead-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";

// Redrives are killed again and again at random instants, and go on by `dead resume`.

ownJournal();

/** The kills of all versions together. `REDELIVER_KILLS=200` takes some minutes. */
const kills = Number(process.env["REDELIVER_KILLS"] ?? 30);
const killsOfEach = Math.ceil(kills / brokers().length);
const seed = Number(process.env["REDELIVER_SEEDS"]?.split(",")[0] ?? 1);

interface Judged {
  readonly version: string;
  readonly lost: readonly string[];
  readonly letters: number;
  readonly doubled: number;
  /** The most that may be doubled, as the redrives report it. */
  readonly reported: number;
  readonly redrives: number;
}

/** @param compiled the folder of Node's compile cache. With it a process begins its work sooner */
async function killOften(broker: Broker, compiled: string): Promise<Judged> {
  const { version } = broker;
  const random = seeded(seed);
  const system = await stage(broker);
  const { channel, vhost } = system;
  const journal = await openJournal(process.env["REDELIVER_JOURNAL"] ?? "");
  const hosts = ["--url", system.url, "--management-url", broker.managementUrl, "--json"];
  const [all, sent, ids]: [string[], string[], Set<string>] = [[], [], new Set()];
  let goesOn: string | null = null;
  for (let kill = 0; kill < killsOfEach;) {
    if (goesOn === null) {
      const left = await system.count(deadQueue);
      if (left < 1_500) all.push(...(await fill(system, deadQueue, 4_000 - left, all.length + 1)));
      sent.push(...(await takeAll(system, workQueue)));
    }
    const fresh = ["redrive", "--queue", deadQueue, "--wait", "0s", "--confirm", String(await system.count(deadQueue))];
    const words = goesOn === null ? fresh : ["resume", goesOn];
    const child = start(["dead", ...words, ...hosts], { NODE_COMPILE_CACHE: compiled });
    // Some die before they have said anything.
    if (random() < 0.75) await child.id();
    await sleep(random() * 500);
    if (!child.isOver()) kill += 1;
    await child.kill();
    await until(60_000, async () => (await channel.checkQueue(deadQueue)).consumerCount === 0);
    const last = (await journal.list()).find(({ key }) => key.includes(vhost));
    if (last !== undefined) ids.add(last.id);
    goesOn = last === undefined || last.state === "done" ? null : last.id;
  }
  // The broker puts letters of a lost connection back after a while.
  const found = async (): Promise<number> =>
    sent.length + (await system.count(workQueue)) + (await system.count(deadQueue));
  await until(60_000, async () => (await found()) >= all.length);
  sent.push(...(await takeAll(system, workQueue)));
  const left = await takeAll(system, deadQueue);
  let reported = 0;
  for (const id of ids) {
    const redrive = await journal.read(id);
    // One that did not go on could not report its last letters.
    reported += (redrive?.mayBeDoubled ?? 0) + (redrive?.state === "done" ? 0 : windowLetters);
  }
  await journal.close();
  const there = new Set([...sent, ...left]);
  const lost = all.filter((id) => !there.has(id));
  const doubled = sent.length + left.length - there.size;
  return { version, lost, letters: all.length, doubled, reported, redrives: ids.size };
}

test(
  `redrives that are killed ${kills} times lose nothing, and double no more than they report`,
  { timeout: 6_000 * kills + 120_000 },
  async () => {
    const compiled = mkdtempSync(join(tmpdir(), "redeliver-compiled-"));
    onTestFinished(() => rmSync(compiled, { recursive: true, force: true }));
    for (const each of await Promise.all(brokers().map((broker) => killOften(broker, compiled)))) {
      console.log(`${killsOfEach} kills: ${JSON.stringify({ ...each, lost: each.lost.length })}`);
      expect(each.lost).toEqual([]);
      expect(each.doubled, each.version).toBeLessThanOrEqual(each.reported);
      // Each kill, and the end of the test, leaves one window.
      expect(each.reported, each.version).toBeLessThanOrEqual((killsOfEach + 1) * windowLetters);
    }
  },
);
