import type { Connection, Sender, Session } from "rhea";

type End = () => void;

/** What there is to do when a session or a connection ends, for each of the links on it. */
const endings = new WeakMap<Session | Connection, Set<End>>();

/**
 * Calls back when a link is over: closed by itself, with its session, or with its connection. It may be called more than once. Sessions and connections
 * have one listener each, however many links come and go on them.
 */
export function whenLinkEnds(link: Sender, end: End): void {
  const sets = [
    endingsOf(link.session, () => link.session.on("session_close", () => endAll(link.session))),
    endingsOf(link.connection, () => link.connection.on("disconnected", () => endAll(link.connection))),
  ];
  for (const each of sets) each.add(end);
  link.on("sender_close", () => {
    for (const each of sets) each.delete(end);
    end();
  });
}

function endingsOf(carrier: Session | Connection, listen: () => void): Set<End> {
  const known = endings.get(carrier);
  if (known !== undefined) return known;
  const ends = new Set<End>();
  endings.set(carrier, ends);
  listen();
  return ends;
}

function endAll(carrier: Session | Connection): void {
  for (const end of endings.get(carrier) ?? []) end();
}
