import type { Connection, Sender, Session } from "rhea";

/** Whether the client has said so, or its connection is gone. */
export type LinkEnd = "closed" | "cut";
type End = (how: LinkEnd) => void;

/** What there is to do when a session or a connection ends, for each of the links on it. */
const endings = new WeakMap<Session | Connection, Set<End>>();

/**
 * Calls back when a link is over: closed by itself, with its session, or with its connection. It may be called more than once. Sessions and connections
 * have one listener each, however many links come and go on them.
 */
export function whenLinkEnds(link: Sender, end: End): void {
  const sets = [
    endingsOf(link.session, { session_close: "closed" }),
    // rhea says `disconnected` only of a connection that nobody has closed before.
    endingsOf(link.connection, { connection_close: "closed", disconnected: "cut" }),
  ];
  for (const each of sets) each.add(end);
  link.on("sender_close", () => {
    for (const each of sets) each.delete(end);
    end("closed");
  });
}

function endingsOf(carrier: Session | Connection, events: Readonly<Record<string, LinkEnd>>): Set<End> {
  const known = endings.get(carrier);
  if (known !== undefined) return known;
  const ends = new Set<End>();
  endings.set(carrier, ends);
  for (const [event, how] of Object.entries(events)) carrier.on(event, () => endAll(carrier, how));
  return ends;
}

function endAll(carrier: Session | Connection, how: LinkEnd): void {
  for (const end of endings.get(carrier) ?? []) end(how);
}
