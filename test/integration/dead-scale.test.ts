import { describe, expect, test } from "vitest";

import type { Groups } from "../../src/operate/groups.ts";
import type { LookedFor } from "../../src/dead-letters/index.ts";
import type { RedriveResult } from "../../src/operate/redrive.ts";
import { byQueue } from "../support/dead-command.ts";
import { ownJournal, start } from "../support/dead-journal.ts";
import { deadQueue, fill, stage, takeAll, workQueue } from "../support/dead-stage.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { answerOf, runSeparately } from "../support/run-command.ts";

ownJournal();

/** On one version more than one consumer may hold, which is 65,535. */
const sizeOn = (version: string): number => (version === "4.3" ? 100_000 : 20_000);
/** Of all letters together. If they stayed in memory, a process would need more than this, and die of the limit below. */
const bytes = 100_000_000;
const mostHeapMb = 64;

/** Each process says the most memory that it had resident. Without a limit, garbage would decide it. */
const tellPeak = `process.on("exit",()=>process.stderr.write("peak"+process.resourceUsage().maxRSS))`;
const NODE_OPTIONS = `--max-old-space-size=${mostHeapMb} --import=data:text/javascript,${encodeURIComponent(tellPeak)}`;

describe.for(brokers())("many letters on RabbitMQ $version", { timeout: 900_000 }, (broker) => {
  const size = sizeOn(broker.version);

  test("are looked at and sent by half, and the other half stays in order, in constant memory", async () => {
    const system = await stage(broker);
    const { channel } = system;
    const headers = { filler: "x".repeat(bytes / size) };
    /** Looks at letters and sends half of them. Returns the peak of each command, in bytes. */
    const work = async (count: number): Promise<Readonly<Record<string, number>>> => {
      const ids = await fill(system, deadQueue, count, 1, { headers });
      const half = count / 2;
      const peaks: Record<string, number> = {};
      const ask = async <Answer>(command: string, ...words: readonly string[]): Promise<Answer> => {
        const said = await runSeparately(byQueue(system, command, ...words), { NODE_OPTIONS });
        expect(said.code, said.out + said.error).toBe(0);
        peaks[command] = 1_024 * Number(/peak(\d+)$/.exec(said.error)?.[1]);
        return answerOf<Answer>(said);
      };
      // A reason that none has, so it judges all.
      const listed = { ready: count, seen: count, matched: 0, isWhole: true };
      expect(await ask<LookedFor>("list", "--reason=NONE")).toMatchObject(listed);
      const { groups } = await ask<Groups>("groups");
      expect(groups.map(({ reason, count: of }) => [reason, of]).toSorted()).toEqual([
        ["EVEN", half],
        ["ODD", half],
      ]);
      expect(await ask("plan", "--reason=EVEN")).toMatchObject({ letters: half, stay: { "not chosen": half } });
      const words = ["--reason=EVEN", `--confirm=${half}`, "--wait=0s"];
      const sent = { sent: half, mayBeDoubled: 0, stopped: null };
      expect(await ask<RedriveResult>("redrive", ...words)).toMatchObject(sent);
      expect(await takeAll(system, workQueue)).toEqual(ids.filter((_, index) => index % 2 === 1));
      expect(await takeAll(system, deadQueue)).toEqual(ids.filter((_, index) => index % 2 === 0));
      return peaks;
    };
    const few = await work(size / 10);
    const many = await work(size);
    const grown = Object.entries(many).map(([command, peak]) => [command, peak - (few[command] ?? 0)] as const);
    console.log(`RabbitMQ ${broker.version}, peaks in bytes: ${JSON.stringify({ few, many })}`);
    for (const [command, growth] of grown) expect(growth, command).toBeLessThan(bytes);

    if (size <= 65_535) return;
    // Two consumers held them, and the broker puts back their letters as it likes.
    const ids = await fill(system, deadQueue, 70_000);
    const child = start(byQueue(system, "groups"));
    await until(60_000, async () => (await channel.checkQueue(deadQueue)).consumerCount > 0);
    await until(60_000, async () => (await system.count(deadQueue)) === 0);
    await child.kill();
    await until(60_000, async () => (await system.count(deadQueue)) === ids.length);
    const left = await takeAll(system, deadQueue);
    expect(new Set(left)).toEqual(new Set(ids));
    expect(left).toHaveLength(ids.length);
  });
});
