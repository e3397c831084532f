import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";

import { discardLetters, exportLetters, openJournal } from "../../src/dead-letters/index.ts";
import { createBackup } from "../../src/dead-letters/backup.ts";
import { exportedIn } from "../support/exported-letters.ts";
import { deadQueue, inMemory, letterOf as inMemoryLetter } from "../support/in-memory-queue.ts";

/** The bytes that the disk has room for, and the folder that is read-only. */
const disk = vi.hoisted(() => ({ roomBytes: Infinity, readOnly: "none" }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const failing = (code: string, syscall: string): Error => Object.assign(new Error(code), { code, syscall });
  return {
    ...fs,
    openSync: (...input: Parameters<typeof fs.openSync>) => {
      if (String(input[0]).startsWith(disk.readOnly) && input[1] !== "r") throw failing("EROFS", "open");
      return fs.openSync(...input);
    },
    writeSync: (handle: number, bytes: Uint8Array, at: number) => {
      const written = Math.min(bytes.length - at, disk.roomBytes);
      if (written === 0) throw failing("ENOSPC", "write");
      disk.roomBytes -= written;
      return fs.writeSync(handle, bytes, at, written);
    },
  };
});

afterEach(() => Object.assign(disk, { roomBytes: Infinity, readOnly: "none" }));

const letterOf = (position: number) => ({
  position,
  exchange: "",
  routingKey: "shop.billing.dead",
  redelivered: false,
  headers: {},
  properties: { messageId: `letter-${position}` },
  body: Buffer.alloc(1_000, "x"),
});
const place = { broker: "rabbitmq" as const, queue: "shop.billing.dead", consumer: "billing" };
const newFile = (): string => join(mkdtempSync(join(tmpdir(), "disk-")), "backup.ndjson");

/** The ids of the whole letters in a file. */
const idsIn = (file: string) => exportedIn(file).exported.map(({ letter }) => letter.properties["messageId"]);

test.each([0, 1, 70_000, 200_000])(
  "a letter leaves its queue only if it is on the disk: room for %i bytes",
  async (room) => {
    const file = newFile();
    const backup = createBackup(file, place);
    disk.roomBytes = room;
    const letters = Array.from({ length: 200 }, (_, index) => letterOf(index + 1));
    const outcomes: PromiseSettledResult<void>[] = [];
    // Letters that are saved at the same time are more than one write.
    for (let at = 0; at < letters.length; at += 100)
      outcomes.push(...(await Promise.allSettled(letters.slice(at, at + 100).map((letter) => backup.save(letter)))));
    const saved = letters.filter((_, index) => outcomes[index]?.status === "fulfilled");
    expect(saved).toHaveLength(room > 150_000 ? 100 : 0);
    expect(idsIn(file)).toEqual(expect.arrayContaining(saved.map(({ properties }) => properties.messageId)));
    disk.roomBytes = Infinity;
    await expect(backup.save(letterOf(201))).rejects.toThrow("ENOSPC");
    expect(backup.close()).toBe(false);
  },
);

test("a disk that recovers between two letters does not make a half line whole", async () => {
  const file = newFile();
  const backup = createBackup(file, place);
  await backup.save(letterOf(1));
  disk.roomBytes = 500;
  await expect(backup.save(letterOf(2))).rejects.toThrow("ENOSPC");
  disk.roomBytes = Infinity;
  await expect(backup.save(letterOf(3))).rejects.toThrow("ENOSPC");
  expect([backup.close(), idsIn(file)]).toEqual([false, ["letter-1"]]);
});

test("a read-only disk takes no backup, no export and no journal, and says so", async () => {
  disk.readOnly = "/";
  expect(() => createBackup(newFile(), place)).toThrow("EROFS");
  const dead = inMemory([inMemoryLetter("m1")]);
  const desk = { dead, journal: await openJournal(newFile()).catch((cause: unknown) => cause as Error) };
  expect(desk.journal).toMatchObject({ message: expect.stringMatching(/RD817[^]*the disk is read-only/) });
  await expect(exportLetters(dead, {}, newFile())).rejects.toThrow("EROFS");
  disk.readOnly = "none";
  const journal = await openJournal(newFile());
  onTestFinished(journal.close);
  const order = { confirm: 1, why: "old", backup: newFile() };
  disk.readOnly = order.backup;
  await expect(discardLetters({ dead, journal }, order)).rejects.toThrow("the disk is read-only; no letter has left");
  expect(dead.queues.get(deadQueue)).toHaveLength(1);
});
