import { type Journal, journalIn } from "../operate/journal.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Opens a journal of redrives. Close it in the end: its locks end then.
 *
 * @param place a file for SQLite, or the URL of a PostgreSQL database. By default the file of this user
 * @throws RefusedError if the journal cannot be used
 * @throws UsageError if the place is none
 */
export async function openJournal(place = ""): Promise<Journal> {
  return journalIn(await open(place));
}

async function open(place: string) {
  if (/^postgres(ql)?:\/\//i.test(place)) return (await import("./journal-postgresql.ts")).openPostgresql(place);
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(place))
    throw new UsageError("the journal is a file, or a PostgreSQL database such as postgres://user@host/database");
  const { defaultJournal, openSqlite } = await import("./journal-sqlite.ts");
  return openSqlite(place === "" ? defaultJournal() : place);
}
