import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";

export function journalProblem(reason: string, help = helpWithJournal): Diagnostic {
  return diagnostic("RD817", { path: "journal", message: `the journal cannot be used: ${reason}`, help });
}

const helpWithJournal =
  "name another place with --journal or REDELIVER_JOURNAL: a file, or the URL of a PostgreSQL database";

/** @param holder the redrive that has the lock, as far as it is known */
export function heldProblem(
  queue: string,
  holder: { readonly who: string; readonly at: string; readonly id?: string } | null,
): Diagnostic {
  const { who, at, id } = holder ?? {};
  const by = who === undefined ? "somebody" : `${who} since ${at}`;
  const command = id === undefined ? "a redrive, or another command that moves letters," : "a redrive";
  return diagnostic("RD816", {
    path: "queue",
    message: `${command} of ${queue} is already running${id === undefined ? "" : `, ${id}`}, by ${by}`,
    help: `wait for its end, or end a redrive with redeliver dead pause ${id ?? "ID"}`,
  });
}
