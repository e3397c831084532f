import { setTimeout } from "node:timers/promises";

import { refuseIf } from "../diagnostics/render.ts";
import type { FilterInput } from "../operate/filter.ts";
import { confirmProblem } from "../operate/plan.ts";
import type { WholeMove, WholeMoves } from "../operate/port.ts";
import type { DeadQueue } from "./dead-queue.ts";
import { type Desk, silent, withLocks } from "./locks.ts";
import { filterOf } from "./look.ts";
import { wordOf } from "./take.ts";
import { UsageError } from "./usage-error.ts";

const askEveryMs = 1_000;

/** The move of a whole queue by the broker, or the number of letters if nothing was confirmed. */
export type WholeEnd = {
  /** The dead queue that was moved or counted. */
  readonly queue: string;
} & (
  | {
      /** The letters in the queue, if nothing was confirmed. */
      readonly letters: number;
    }
  | {
      /** The letters that the broker moved. */
      readonly moved: number;
      /** Why the move ended before its end. Null if it did not. */
      readonly stopped: string | null;
    }
);

export interface WholeOrder {
  /** May only be empty: the broker moves the whole queue by itself. */
  readonly filter?: FilterInput;
  /** The number of letters. Without it they are only counted. */
  readonly confirm?: number | undefined;
  /** The most letters a second, for the broker's move. Null leaves it to the broker. */
  readonly perSecond?: number | null;
  /** The reason, for the journal. */
  readonly why?: string | undefined;
}

/**
 * Lets the broker itself move a whole dead queue, and follows the move. The move goes on if this process ends, and the
 * same call then follows it. The locks are held until the move ends.
 *
 * @throws RefusedError if the number is another one, or if somebody else moves letters. Nothing has moved then
 * @throws UsageError if the broker moves no whole queue, or if a filter is given
 */
export async function moveWhole(desk: Desk, order: WholeOrder): Promise<WholeEnd> {
  const { dead, journal } = desk;
  const { queue, contract } = dead;
  const whole = wholeOf(dead);
  if (!filterOf(order.filter ?? {}).isAll)
    throw new UsageError("a move of the whole queue takes all letters, so leave out the filters");
  const isRunning = (await whole.latest(queue))?.isRunning === true;
  if (!isRunning && order.confirm === undefined) return { queue, letters: await countIn(dead) };
  return withLocks(desk, async () => {
    const { id, by, why } = wordOf(desk, { why: order.why ?? "" });
    if (!isRunning) {
      const letters = await countIn(dead);
      refuseIf(confirmProblem(queue, letters, order.confirm ?? 0));
      // SQS may move the queue although its answer does not come.
      await journal.note(id, by, `asks the broker to move about ${letters} letters of ${queue}; why: ${why}`);
      const refusal = await whole.start(queue, contract?.workQueue ?? null, order.perSecond ?? null);
      if (refusal !== null) throw new UsageError(`${refusal}; a redrive moves the letters one by one`);
    }
    return followMove(desk, whole, "the broker does not know the move any more");
  });
}

/**
 * Ends a move of a whole queue, and waits for its end. Letters that were moved stay moved.
 *
 * @throws UsageError if none runs
 */
export async function cancelWhole(desk: Desk): Promise<WholeEnd> {
  const { dead, journal } = desk;
  const whole = wholeOf(dead);
  if (!(await whole.cancel(dead.queue))) throw new UsageError(`no move of ${dead.queue} runs`);
  const { id, by } = wordOf(desk, { why: "" });
  await journal.note(id, by, `cancels the broker's move of ${dead.queue}`);
  return followMove(desk, whole, "it was cancelled");
}

async function followMove({ dead, progress = silent }: Desk, whole: WholeMoves, gone: string): Promise<WholeEnd> {
  const { queue } = dead;
  const report = progress("letters moved", null);
  let move: WholeMove = { isRunning: true, moved: 0, problem: null };
  while (move.isRunning) {
    await setTimeout(askEveryMs);
    move = (await whole.latest(queue)) ?? { ...move, isRunning: false, problem: gone };
    report(move.moved);
  }
  return { queue, moved: move.moved, stopped: move.problem };
}

function wholeOf({ letters: { whole }, isShared, others, contract, queue }: DeadQueue): WholeMoves {
  if (isShared || (others !== null && queue !== contract?.parkedQueue))
    throw new UsageError(`other consumers may have letters in ${queue}; a redrive moves those of one consumer alone`);
  if (whole === undefined)
    throw new UsageError("only SQS moves a whole queue by itself; a redrive moves the letters one by one");
  return whole;
}

async function countIn({ letters, queue }: DeadQueue): Promise<number> {
  return (await letters.look(queue, () => false)).ready;
}
