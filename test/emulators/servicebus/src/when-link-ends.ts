import type { Connection, Sender, Session } from "rhea";

/** The client has closed the link, or its connection is gone. */
export type LinkEnd = "closed" | "cut";
type End = (how: LinkEnd) => void;

/** The callbacks for the end of a session or a connection, for each of its links. */
const endings = new WeakMap<Session | Connection, Set<End>>();

/**
 * Calls back when a link ends: by itself, with its session, or with its connection. It may call more than once. Each
 * session and connection has only one listener, so that the listeners do not grow with the number of links.
 */
export function whenLinkEnds(link: Sender, end: End): void {
  const sets = [
    endingsOf(link.session, { session_close: "closed" }),
    // rhea reports `disconnected` only for a connection that was not closed before.
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
