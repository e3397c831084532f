import { hostname, userInfo } from "node:os";
import { setTimeout } from "node:timers/promises";

import { refused } from "../diagnostics/render.ts";
import type { Journal } from "../operate/journal.ts";
import type { Lock } from "../operate/journal-schema.ts";
import { heldProblem } from "../operate/journal-problems.ts";
import type { DeadQueue } from "./dead-queue.ts";
import type { Pace } from "./pace.ts";

/** A dead queue, the journal, and the person who moves letters. */
export interface Desk {
  /** The dead queue that the command works on. */
  readonly dead: DeadQueue;
  /** The record of redrives, which also has the locks. */
  readonly journal: Journal;
  /** The user of the system by default. */
  readonly who?: string;
  /** Hears of long work. */
  readonly progress?: Progress;
  /** Hears that a redrive begins, before its first letter. */
  readonly began?: (id: string, letters: number) => void;
  /** Hears that letters are awaited, which an ended process held. */
  readonly waiting?: () => void;
}

/**
 * Begins to report a piece of work.
 *
 * @param what the things that are counted
 * @param total the count at the end; null if unknown
 * @returns a function that is called with the count so far, and with the pace of work that has waits in it
 */
export type Progress = (what: string, total: number | null) => (count: number, more?: string, pace?: Pace) => void;

export const silent: Progress = () => () => undefined;

/** The holder of a queue's locks. */
export interface Held {
  readonly who: string;
  /** ISO 8601. */
  readonly at: string;
  readonly key: string;
}

/**
 * Does work on the letters of a queue while nobody else moves any.
 *
 * @throws RefusedError if somebody else does
 */
export async function withLocks<Result>(
  { dead, journal, who = person() }: Desk,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  const { queue, letters } = dead;
  const held = { who, at: new Date().toISOString(), key: keyOf(dead) };
  const lock = await takeLock(journal, held.key, queue);
  try {
    await letters.lock?.(queue, held);
    return await work(held);
  } finally {
    await lock.release();
  }
}

/**
 * Takes the lock of all commands that move letters of a queue.
 *
 * @throws RefusedError that names the redrive that has it
 */
export async function takeLock(journal: Journal, key: string, queue: string): Promise<Lock> {
  const lock = (await journal.lock(key)) ?? (await afterProbe(() => journal.lock(key)));
  if (lock !== null) return lock;
  const holder = (await journal.list()).find((each) => each.key === key && each.state === "running");
  throw refused([heldProblem(queue, holder ?? null)]);
}

/** `status` takes the lock for a moment, to see if the process of a redrive lives. */
const probeMs = 200;

async function afterProbe<Result>(work: () => Promise<Result>): Promise<Result> {
  await setTimeout(probeMs);
  return work();
}

/** Names the queue for the lock. */
export const keyOf = ({ broker, address, queue }: DeadQueue): string => `${broker} ${address} ${queue}`;

/** The person, as the system knows them. */
export function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a number that no user has.
    return `${process.getuid?.()}@${hostname()}`;
  }
}
