import rhea, { type Sender } from "rhea";

import { holdAttach, internalsOf, refuse } from "./link.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Refusal } from "./settlement.ts";
import { whenLinkEnds } from "./when-link-ends.ts";

/** The filter that a client asks for a session with. The broker answers in it with the session's name. */
export const sessionFilter = "com.microsoft:session-filter";

const longestWaitMs = 60_000;

/** Locks the requested session, or waits for any session with messages. */
export function acceptSession(
  sender: Sender,
  mailbox: Mailbox,
  wanted: string | null,
  begin: (session: string) => void,
): void {
  const grant = (session: string, lockedUntilMs: number): void => {
    sender.set_source({ ...sender.source, filter: { [sessionFilter]: session } });
    if ((sender.target as unknown) !== null) sender.set_target(sender.target);
    internalsOf(sender).local.attach.properties = {
      "com.microsoft:locked-until-utc": rhea.types.wrap_long(dotNetTicks(lockedUntilMs)),
    };
    begin(session);
  };
  const deny = (refusal: Refusal): void => {
    // No source: a refused link has none. The client for Java takes any source that it finds for a session's.
    if ((sender.target as unknown) !== null) sender.set_target(sender.target);
    sender.open();
    // The client looks for the reason only after it has seen that it has no session.
    setImmediate(() => refuse(sender, refusal));
  };
  if (wanted !== null) {
    const untilMs = mailbox.lockSession(wanted);
    if (untilMs === null)
      deny({ condition: "com.microsoft:session-cannot-be-locked", description: `The session '${wanted}' is locked.` });
    else grant(wanted, untilMs);
    return;
  }
  const answer = holdAttach(sender);
  const asked = Number(
    (sender.properties as Record<string, unknown> | undefined)?.["com.microsoft:timeout"] ?? Number.NaN,
  );
  const waitMs = Number.isFinite(asked) ? Math.min(asked, longestWaitMs) : longestWaitMs;
  const timer = setTimeout(() => {
    stopWaiting();
    deny({ condition: "com.microsoft:timeout", description: "There is no session with messages that nobody holds." });
  }, waitMs);
  timer.unref();
  const stopWaiting = mailbox.sessions.wait({
    session: null,
    grant: (session, untilMs) => {
      clearTimeout(timer);
      grant(session, untilMs);
      answer();
    },
  });
  whenLinkEnds(sender, () => {
    clearTimeout(timer);
    stopWaiting();
  });
  mailbox.dispatch();
}

/** The number of 100 ns since the year 1, which is too large for a number of JavaScript. */
function dotNetTicks(atMs: number): Buffer {
  const ticks = Buffer.alloc(8);
  ticks.writeBigInt64BE(BigInt(atMs) * 10_000n + 621_355_968_000_000_000n);
  return ticks;
}
