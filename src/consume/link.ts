import type { SessionListener } from "./adapter.ts";
import { growingPauses } from "./breaker.ts";
import type { Engine, Link } from "./engine.ts";
import { freeHandlers, report, wakeWatchers, whenever } from "./engine.ts";
import { beginWaiting, take } from "./handle.ts";
import { pauseMs } from "./long-timer.ts";

/** What is waited between two tries to connect, at first and at most. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/** Connects, and takes deliveries unless the consumer pauses. */
export async function openLink(engine: Engine): Promise<void> {
  const link: Link = {
    session: null,
    isLost: false,
    isSilent: false,
    over: new AbortController(),
    lose: (cause) => loseLink(engine, link, cause),
  };
  const givenUp = new AbortController();
  const giveUp = (): void => {
    const cause = new Error("the consumer has stopped meanwhile");
    givenUp.abort(cause);
    link.lose(cause);
  };
  engine.stopping.signal.addEventListener("abort", giveUp);
  try {
    link.session = await engine.adapter.open({
      ...engine.opening,
      listener: listenerOf(engine, link),
      givenUp: givenUp.signal,
    });
    notLost(link);
    if (engine.phase === "running" || engine.phase === "probing") await link.session.resume();
    notLost(link);
  } catch (cause) {
    link.lose(cause);
    // It may have been lost before there was a session to close.
    closeAtOnce(link);
    throw cause;
  } finally {
    engine.stopping.signal.removeEventListener("abort", giveUp);
  }
  // Not before: what is lost until here is tried again by whoever opens it, and by nobody else.
  engine.link = link;
  if (engine.phase === "paused") link.session.pause().catch(link.lose);
}

function listenerOf(engine: Engine, link: Link): SessionListener {
  return {
    delivered: (delivery) => take(engine, link, delivery),
    lost: link.lose,
    answers: (isAnswering) => {
      link.isSilent = !isAnswering;
    },
    free: () => freeHandlers(engine),
    whenFree: () => whenever(engine, () => freeHandlers(engine) > 0 || engine.stopping.signal.aborted),
    report: (event) => report(engine, event),
  };
}

function notLost(link: Link): void {
  if (link.isLost) throw new Error("the connection was lost before it was in use");
}

/** Once: what is closed is not used again. */
function closeAtOnce(link: Link): void {
  const { session } = link;
  link.session = null;
  session?.close(0).catch(() => undefined);
}

/** The connection is gone. Its handlers go on, and what they come to is dropped: the broker delivers their messages again. */
function loseLink(engine: Engine, link: Link, cause: unknown): void {
  if (link.isLost) return;
  link.isLost = true;
  link.over.abort();
  engine.waiting = engine.waiting.filter((held) => held.link !== link);
  closeAtOnce(link);
  wakeWatchers(engine);
  // A link that was never in use is looked after by whoever opens it.
  if (engine.link === link && !engine.stopping.signal.aborted) engine.reconnecting = reconnect(engine, cause);
}

async function reconnect(engine: Engine, firstCause: unknown): Promise<void> {
  const pauses = growingPauses(firstPauseMs, longestPauseMs);
  let nextTryMs = pauses.next();
  report(engine, { kind: "lost", error: firstCause, nextTryMs });
  for (;;) {
    await pauseMs(nextTryMs, engine.stopping.signal);
    if (engine.stopping.signal.aborted) return;
    try {
      await openLink(engine);
      report(engine, { kind: "reconnected" });
      beginWaiting(engine);
      return;
    } catch (error) {
      if (engine.stopping.signal.aborted) return;
      nextTryMs = pauses.next();
      report(engine, { kind: "reconnect-failed", error, nextTryMs });
    }
  }
}
