import type { ProgramRun } from "./pulumi.ts";

let turn: Promise<unknown> = Promise.resolve();

/** Pulumi's mocks belong to the process, and tests run side by side. So the programs run one after the other. */
export async function inTurn(register: () => Promise<ProgramRun>): Promise<ProgramRun> {
  const mine = turn.then(register);
  turn = mine.catch(() => {});
  return mine;
}
