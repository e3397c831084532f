import { setTimeout } from "node:timers/promises";

import { refused } from "../diagnostics/render.ts";
import { parseFilter } from "../operate/filter.ts";
import { readFrozen } from "../operate/frozen.ts";
import {
  type Journal,
  type JournalledRedrive,
  type RedriveState,
  type Wish,
  processEnded,
} from "../operate/journal.ts";
import { consumedProblem } from "../operate/plan.ts";
import { findOut } from "../operate/redrive.ts";
import type { JournalOptions } from "./dead-control-options.ts";
import { keyOf, person, takeLock, withJournal } from "./dead-journal.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { type Place, UsageError, answering, atPlace } from "./dead-place.ts";
import { type Begun, run } from "./dead-run.ts";
import { exitCodes } from "./exit-codes.ts";
import { print, writeError } from "./output.ts";
import { ended } from "./refuse.ts";

/** Shows the last redrives, or one with its events. */
export async function statusCommand(id: string | undefined, options: JournalOptions): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      const { renderRedrives, renderStatus } = await import("../report/dead-redrive.ts");
      if (id === undefined) {
        const redrives = [];
        for (const each of await journal.list()) redrives.push(await asItIs(journal, each));
        return print(options.json === true ? { redrives: redrives.map(shown) } : renderRedrives(redrives));
      }
      const redrive = await known(journal, id);
      const events = await journal.eventsOf(id);
      return print(options.json === true ? { ...shown(redrive), events } : renderStatus(redrive, events));
    }),
  );
}

/** The time for the process of a redrive to end. It has to give its letters back before. */
const endsWithinMs = 30_000;
const askEveryMs = 200;

/** Pauses or cancels a redrive, and waits for its end. */
export async function endCommand(id: string, options: JournalOptions, wish: Wish): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      let redrive = await known(journal, id);
      const { state } = redrive;
      if (state !== "running") {
        if (wish === "pause") throw new UsageError(`the redrive ${id} is not running: it is ${stateOf(redrive)}`);
        if (isOver(state)) throw new UsageError(`the redrive ${id} is ${state} already`);
        await journal.change(id, { state: "cancelled", reason: null }, person(), "cancelled");
      } else await journal.change(id, { wish }, person(), `asks to ${wish}`);
      const untilMs = performance.now() + endsWithinMs;
      for (redrive = await known(journal, id); redrive.state === "running" && performance.now() < untilMs;) {
        await setTimeout(askEveryMs);
        redrive = await known(journal, id);
      }
      const { renderRedrives } = await import("../report/dead-redrive.ts");
      const printed = await print(options.json === true ? shown(redrive) : renderRedrives([redrive]));
      return ended(printed, redrive.state === "running" ? exitCodes.incomplete : exitCodes.fine);
    }),
  );
}

/** Goes on with a redrive from the place where the broker and the journal show it. */
export async function resumeCommand(id: string, options: JournalOptions & Partial<PlaceOptions>): Promise<number> {
  return answering(options, () =>
    withJournal(options, async (journal) => {
      const redrive = await known(journal, id);
      refuseOver(redrive);
      const { file, ...words } = redrive.place;
      const { journal: _, ...given } = options;
      return atPlace(file, { ...words, ...given } as PlaceOptions, async (place) => {
        if (keyOf(place) !== redrive.key)
          throw new UsageError(`the redrive ${id} is one of ${redrive.key}, and not of ${keyOf(place)}`);
        const lock = await takeLock(journal, redrive.key, redrive.queue);
        try {
          return await run(place, journal, await goOn(place, journal, id), options);
        } finally {
          await lock.release();
        }
      });
    }),
  );
}

/** Finds out where a redrive stood. This process has its lock, so nobody else moves its letters. */
async function goOn(place: Place, journal: Journal, id: string): Promise<Begun> {
  const { letters: dead, queue, operating, contract } = place;
  const facts = await known(journal, id);
  refuseOver(facts);
  const { at, intended, letters, generations, targets, filter: input } = facts;
  const who = person();
  await dead.lock?.(queue, { who, at: new Date().toISOString() });
  if (intended > facts.sent) writeError("redeliver: waits for the letters that the ended process held\n");
  await dead.settle?.(queue);
  const frozen = readFrozen(await journal.lettersOf(id));
  const { looked, present, diedAgain } = await findOut(dead, { queue, id, frozen, identityOf: operating.identityOf });
  const problem = consumedProblem(queue, looked.consumers);
  if (problem !== null) throw refused([problem]);
  const filter = parseFilter(input, Date.parse(at));
  if ("problem" in filter) throw new UsageError(filter.problem);
  const unrecorded = intended - facts.sent;
  const gone = Math.min(letters - present, intended);
  const sent = looked.isWhole ? Math.max(facts.sent, gone) : facts.sent;
  const mayBeDoubled = facts.mayBeDoubled + Math.min(operating.windowLetters, unrecorded);
  const before = { sent, diedAgain, mayBeDoubled };
  const change = { ...before, state: "running" as const, reason: null, wish: null };
  await journal.change(id, change, who, `goes on after ${sent} letters, ${present} are there`);
  const { unsendable } = operating;
  const rules = { filter, generations, targets: new Set(targets), workQueue: contract?.workQueue ?? null, unsendable };
  return { facts, who, before, frozen, rules, unrecorded, heldMs: unrecorded > 0 ? operating.heldMs : 0 };
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
    const now = (await journal.read(redrive.id)) ?? redrive;
    if (now.state !== "running") return now;
    await journal.change(
      redrive.id,
      { state: "stopped", reason: processEnded },
      person(),
      `finds that ${processEnded}`,
    );
    return { ...now, state: "stopped", reason: processEnded };
  } finally {
    await lock.release();
  }
}

const isOver = (state: RedriveState): boolean => state === "done" || state === "cancelled";

/** @throws UsageError */
function refuseOver({ id, state }: JournalledRedrive): void {
  if (isOver(state)) throw new UsageError(`the redrive ${id} is ${state}, so there is nothing to go on with`);
}

const stateOf = ({ state, reason }: JournalledRedrive): string => (reason === null ? state : `${state}, ${reason}`);

function shown(redrive: JournalledRedrive): object {
  const { key: _, place: __, ...others } = redrive;
  return others;
}
