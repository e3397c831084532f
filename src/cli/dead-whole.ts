import { setTimeout } from "node:timers/promises";

import { confirmProblem } from "../operate/plan.ts";
import type { WholeMove } from "../operate/port.ts";
import { UsageError, atPlace, filterOf } from "./dead-place.ts";
import { createProgress } from "./dead-progress.ts";
import type { RedriveOptions } from "./dead-redrive.ts";
import { exitCodes } from "./exit-codes.ts";
import { print } from "./output.ts";
import { ended, refuse } from "./refuse.ts";

export interface WholeOptions extends RedriveOptions {
  readonly whole?: boolean;
  readonly cancel?: boolean;
}

const askEveryMs = 1_000;
/**
 * Lets the broker itself move a whole dead queue. The move goes on if this command ends, and the same command then
 * follows it.
 */
export async function wholeCommand(file: string | undefined, options: WholeOptions): Promise<number> {
  return atPlace(file, options, async ({ queue, contract, letters: { whole, look } }) => {
    if (!filterOf(options).isAll) throw new UsageError("--whole moves all letters, so leave out the filters");
    if (whole === undefined) throw new UsageError("only SQS moves a whole queue by itself; leave out --whole");
    if (options.cancel === true) {
      if (!(await whole.cancel(queue))) throw new UsageError(`no move of ${queue} runs`);
    } else if ((await whole.latest(queue))?.isRunning !== true) {
      const { ready } = await look(queue, () => false);
      if (options.confirm === undefined) {
        const text = `about ${ready} letters of ${queue} would be moved by the broker, without steps and history\nNothing has moved. With --confirm ${ready} they are moved.\n`;
        return print(options.json === true ? { queue, letters: ready } : text);
      }
      const problem = confirmProblem(queue, ready, options.confirm);
      if (problem !== null) return refuse([problem], options, {}, exitCodes.refused);
      const refusal = await whole.start(queue, contract?.workQueue ?? null, options.rate ?? null);
      if (refusal !== null) throw new UsageError(`${refusal}; leave out --whole to move the letters one by one`);
    }
    const progress = createProgress("letters moved");
    const gone = options.cancel === true ? "it was cancelled" : "the broker does not know the move any more";
    let move: WholeMove = { isRunning: true, moved: 0, problem: null };
    while (move.isRunning) {
      await setTimeout(askEveryMs);
      move = (await whole.latest(queue)) ?? { ...move, isRunning: false, problem: gone };
      progress(move.moved);
    }
    const { moved, problem } = move;
    const text = `about ${moved} letters of ${queue} were moved${problem === null ? "" : `; stopped: ${problem}`}\n`;
    const printed = await print(options.json === true ? { queue, moved, stopped: problem } : text);
    return ended(printed, problem === null ? exitCodes.fine : exitCodes.incomplete);
  });
}
