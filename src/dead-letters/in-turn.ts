import type { Sql } from "../operate/journal-schema.ts";

/** Lets pieces of work on one connection follow each other, because a connection has one transaction at a time. */
export function inTurn(exclusively: Sql["exclusively"]): Sql["exclusively"] {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const own = last.then(() => exclusively(work));
    last = own.catch(() => undefined);
    return own;
  };
}
