import { setTimeout } from "node:timers/promises";

import { refuseIf } from "../diagnostics/render.ts";
import { readFrozen } from "../operate/frozen.ts";
import {
  type Journal,
  type JournalEvent,
  type JournalledRedrive,
  type RedriveState,
  type Wish,
  processEnded,
} from "../operate/journal.ts";
import { consumedProblem } from "../operate/plan.ts";
import { findOut } from "../operate/redrive.ts";
import { type Desk, keyOf, person, takeLock } from "./locks.ts";
import { filterOf } from "./look.ts";
import { type Begun, type RedriveEnd, run } from "./run.ts";
import { parkOf } from "./take.ts";
import { UsageError } from "./usage-error.ts";

/** The last redrives of a journal, the newest first. A redrive whose process has ended is `stopped`. */
export async function redrivesIn(journal: Journal): Promise<readonly JournalledRedrive[]> {
  const redrives: JournalledRedrive[] = [];
  for (const each of await journal.list()) redrives.push(await asItIs(journal, each));
  return redrives;
}

/**
 * One redrive with everything that happened to it.
 *
 * @throws UsageError if the journal does not know it
 */
export async function redriveIn(
  journal: Journal,
  id: string,
): Promise<{ readonly redrive: JournalledRedrive; readonly events: readonly JournalEvent[] }> {
  return { redrive: await known(journal, id), events: await journal.eventsOf(id) };
}

/** The time for the process of a redrive to end. It has to give its letters back before. */
const endsWithinMs = 30_000;
const askEveryMs = 200;

/**
 * Lets a redrive end between two letters, and waits for its end. Nothing is lost or doubled by it.
 *
 * @param wish `pause` to go on later, or `cancel`
 * @returns the redrive, which is still running if it did not end within 30 s
 * @throws UsageError if there is no such redrive, or if it has ended
 */
export async function endRedrive(
  { journal, who = person() }: Pick<Desk, "journal" | "who">,
  id: string,
  wish: Wish,
): Promise<JournalledRedrive> {
  const redrive = await known(journal, id);
  const { key, state } = redrive;
  if (isOver(state)) throw new UsageError(`the redrive ${id} is ${state} already`);
  // With the lock, nobody can begin to go on with the redrive meanwhile.
  const lock = await journal.lock(key);
  try {
    const running = (await journal.list()).find((each) => each.key === key && each.state === "running");
    const isOther = running !== undefined && running.id !== id;
    if (lock === null && !isOther) return await letEnd({ journal, who }, id, key, wish);
    if (wish === "pause") throw new UsageError(`the redrive ${id} is not running: it is ${stateOf(redrive)}`);
    await journal.change(id, { state: "cancelled", reason: null, wish: null }, who, "cancelled");
  } finally {
    await lock?.release();
  }
  return known(journal, id);
}

/** Tells the wish to the process that has the lock. It runs the redrive, or is about to go on with it. */
async function letEnd(
  { journal, who }: Required<Pick<Desk, "journal" | "who">>,
  id: string,
  key: string,
  wish: Wish,
): Promise<JournalledRedrive> {
  await journal.change(id, { wish }, who, `asks to ${wish}`);
  const isHeld = async (): Promise<boolean> => {
    const lock = await journal.lock(key);
    await lock?.release();
    return lock === null;
  };
  const untilMs = performance.now() + endsWithinMs;
  while (await isHeld()) {
    if (performance.now() > untilMs) return known(journal, id);
    await setTimeout(askEveryMs);
  }
  const now = await known(journal, id);
  // It ended for another reason, so nobody has heeded the wish.
  return wish === "cancel" && !isOver(now.state) ? endRedrive({ journal, who }, id, wish) : now;
}

/**
 * Goes on with a redrive from the place where the broker and the journal show it.
 *
 * @throws RefusedError if somebody else moves letters of the queue
 * @throws UsageError if there is nothing to go on with, or if it is the redrive of another queue
 */
export async function resumeRedrive(desk: Desk, id: string): Promise<RedriveEnd> {
  const { dead, journal } = desk;
  const redrive = await openRedrive(journal, id);
  if (keyOf(dead) !== redrive.key)
    throw new UsageError(`the redrive ${id} is one of ${redrive.key}, and not of ${keyOf(dead)}`);
  const { targets } = redrive;
  if (dead.isShared && !targets.includes(dead.workQueue ?? ""))
    throw new UsageError(`the redrive ${id} is one to ${targets.join(", ")}, and not to ${dead.workQueue}`);
  const lock = await takeLock(journal, redrive.key, redrive.queue);
  try {
    return await run(desk, await goOn(desk, id));
  } finally {
    await lock.release();
  }
}

/**
 * A redrive that can go on.
 *
 * @throws UsageError if there is no such redrive, or if it is over
 */
export async function openRedrive(journal: Journal, id: string): Promise<JournalledRedrive> {
  const redrive = await known(journal, id);
  const { state } = redrive;
  if (isOver(state)) throw new UsageError(`the redrive ${id} is ${state}, so there is nothing to go on with`);
  return redrive;
}

/** Finds out where a redrive stood. This process has its lock, so nobody else moves its letters. */
async function goOn({ dead, journal, who = person(), waiting }: Desk, id: string): Promise<Begun> {
  const { letters: broker, queue, workQueue, others, operating, contract } = dead;
  const facts = await openRedrive(journal, id);
  // A wish from now on is for this process. One from before was for a process that has ended.
  await journal.change(id, { wish: null }, who, "is to go on");
  const { at, intended, letters, generations, targets, filter: input } = facts;
  await broker.lock?.(queue, { who, at: new Date().toISOString() });
  if (intended > facts.sent) waiting?.();
  await broker.settle?.(queue);
  const written = await journal.lettersOf(id);
  const [frozen, toPark] = [readFrozen(written.letters, facts.behind), readFrozen(written.parked)];
  const place = { queue, id, identityOf: operating.identityOf };
  const { arrivedAtMs } = operating;
  const { looked, present, ...found } = await findOut(broker, { ...place, frozen, at, arrivedAtMs });
  // Letters of a parked or an earlier queue die into another one, and the next check of deaths looks there.
  const diedAgain = (contract?.deadQueue ?? queue) === queue ? found.diedAgain : facts.diedAgain;
  const parkable = written.parked === "" ? 0 : (await findOut(broker, { ...place, frozen: toPark })).present;
  refuseIf(consumedProblem(queue, looked.consumers));
  const filter = filterOf(input, Date.parse(at));
  // On RabbitMQ a letter counts as sent before its acknowledgement, so a killed process leaves some that are still here.
  const sent = looked.isWhole ? Math.min(letters - present, intended) : facts.sent;
  const unrecorded = intended - Math.min(facts.sent, sent);
  const mayBeDoubled = facts.mayBeDoubled + Math.min(operating.windowLetters, unrecorded);
  const before = { sent, diedAgain, mayBeDoubled };
  const change = { ...before, state: "running" as const, reason: null };
  await journal.change(id, change, who, `goes on after ${sent} letters, ${present} are there`);
  const { unsendable } = operating;
  const rules = { filter, generations, targets: new Set(targets), workQueue, others, unsendable };
  const park = parkOf(dead, { stay: { "sent too often": parkable } });
  return {
    facts,
    who,
    before,
    frozen,
    rules,
    unrecorded,
    park: park === null ? null : { ...park, frozen: toPark },
  };
}

async function known(journal: Journal, id: string): Promise<JournalledRedrive> {
  const found = await journal.read(id);
  if (found === null) throw new UsageError(`no redrive ${JSON.stringify(id)} is in the journal`);
  return asItIs(journal, found);
}

/** A process that was killed could not write its end. Its lock has ended with it. */
async function asItIs(journal: Journal, redrive: JournalledRedrive): Promise<JournalledRedrive> {
  if (redrive.state !== "running") return redrive;
  const lock = await journal.lock(redrive.key);
  if (lock === null) return redrive;
  try {
    // The process may have written its end before it gave up the lock.
    const now = (await journal.read(redrive.id)) ?? redrive;
    if (now.state !== "running") return now;
    const end = { state: "stopped", reason: processEnded } as const;
    await journal.change(redrive.id, end, person(), `finds that ${processEnded}`);
    return { ...now, ...end };
  } finally {
    await lock.release();
  }
}

const isOver = (state: RedriveState): boolean => state === "done" || state === "cancelled";

const stateOf = ({ state, reason }: JournalledRedrive): string => (reason === null ? state : `${state}, ${reason}`);
