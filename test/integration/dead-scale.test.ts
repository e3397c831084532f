import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";

import type { Groups } from "../../src/operate/groups.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { deadQueue, fill, stage, workQueue } from "../support/dead-stage.ts";
import { brokers } from "../support/live.ts";
import { runCommand } from "../support/run-command.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** On one version more than one consumer may hold, which is 65,535. */
const sizeOn = (version: string): number => (version === "4.3" ? 70_000 : 20_000);
/** If the letters stayed in memory, they would take some times this. */
const mostGrowthBytes = 20_000_000;

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe.for(brokers())("many letters on RabbitMQ $version", { timeout: 900_000 }, (broker) => {
  const size = sizeOn(broker.version);

  test("are looked at and sent by half, and the other half stays in order, in constant memory", async () => {
    const system = await stage(broker);
    const { letters, url, channel } = system;
    const ids = await fill(system, deadQueue, size);
    const ask = async (command: string, ...words: readonly string[]) =>
      runCommand([
        "dead",
        command,
        "--json",
        `--queue=${deadQueue}`,
        `--url=${url}`,
        `--management-url=${broker.managementUrl}`,
        ...words,
      ]);
    const used: number[] = [];
    const looked = await letters.look(deadQueue, ({ position }) => {
      if (position % 10_000 === 0) used.push(usedBytes());
      return true;
    });
    expect(looked).toMatchObject({ ready: size, seen: size, isWhole: true });
    expect(Math.max(...used) - (used[0] ?? 0)).toBeLessThan(mostGrowthBytes);

    const groups = JSON.parse((await ask("groups")).out) as Groups;
    expect(groups.groups.map(({ reason, count }) => [reason, count]).toSorted()).toEqual([
      ["EVEN", size / 2],
      ["ODD", size / 2],
    ]);
    const said = await ask("redrive", "--reason=EVEN", `--confirm=${size / 2}`, "--wait=0s");
    expect([said.code, JSON.parse(said.out) as RedriveResult]).toMatchObject([
      0,
      { sent: size / 2, mayBeDoubled: 0, stopped: null },
    ]);
    expect((await channel.checkQueue(workQueue)).messageCount).toBe(size / 2);
    const left: string[] = [];
    await letters.look(deadQueue, ({ properties }) => left.push(String(properties["messageId"])) > 0);
    expect(left).toEqual(ids.filter((_, index) => index % 2 === 0));
  });
});
