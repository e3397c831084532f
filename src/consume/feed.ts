import type { FeedListener } from "./port/adapter.ts";
import { growingPauses } from "./port/growing-pauses.ts";
import type { Engine, FeedState } from "./engine.ts";
import { freeHandlers, report, pauseFeed, takeAsWanted, wakeWatchers, whenever } from "./engine.ts";
import { beginWaiting, take } from "./handle.ts";
import { pauseMs } from "./port/long-timer.ts";

/** The first and the longest pause between two tries to connect. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/** The time that a broker has to accept the consumer at the start. */
const acceptsWithinMs = 30_000;
/**
 * A queue that elects a leader may forget a consumer's request and never answer it. So a consumer that ran asks again
 * after this time, three times, and then after a longer one: it may be too short for a busy broker.
 */
const acceptsAgainWithinMs = 10_000;
const triesOfOneTime = 3;

export function newFeed(lose: FeedState["lose"]): FeedState {
  return {
    opened: null,
    isLost: false,
    isSilent: false,
    answeredAtMs: null,
    blockedBecause: null,
    keptDeadLetters: null,
    taking: 0,
    over: new AbortController(),
    lose,
  };
}

/** Connects, and takes deliveries unless the consumer pauses. */
export async function openFeed(engine: Engine, withinMs = acceptsWithinMs): Promise<void> {
  const feed = newFeed((cause) => loseFeed(engine, feed, cause));
  const givenUp = new AbortController();
  const giveUp = (): void => {
    const cause = new Error("the consumer has stopped meanwhile");
    givenUp.abort(cause);
    feed.lose(cause);
  };
  engine.stopping.signal.addEventListener("abort", giveUp);
  try {
    feed.opened = await engine.adapter.open({
      ...engine.opening,
      listener: listenerOf(engine, feed),
      acceptsWithinMs: withinMs,
      givenUp: givenUp.signal,
    });
    notLost(feed);
    await takeAsWanted(engine, feed);
    notLost(feed);
  } catch (cause) {
    feed.lose(cause);
    // The connection may have been lost before there was a feed to close.
    closeAtOnce(feed);
    throw cause;
  } finally {
    engine.stopping.signal.removeEventListener("abort", giveUp);
  }
  // Only now: until here, only the caller tries a lost connection again.
  engine.feed = feed;
  // In the meantime handlers may have ended, and the phase may have changed.
  if (engine.phase === "paused" || (engine.phase === "probing" && feed.taking > 1)) void pauseFeed(feed);
  takeAsWanted(engine, feed).catch(feed.lose);
}

function listenerOf(engine: Engine, feed: FeedState): FeedListener {
  return {
    delivered: (delivery) => take(engine, feed, delivery),
    lost: feed.lose,
    answers: (isAnswering) => {
      feed.isSilent = !isAnswering;
      if (isAnswering) feed.answeredAtMs = performance.now();
    },
    blocked: (reason) => {
      if (feed.isLost) return;
      feed.blockedBecause = reason;
      report(engine, reason === null ? { kind: "unblocked" } : { kind: "blocked", reason });
    },
    keptDeadLetters: (count) => {
      feed.keptDeadLetters = count;
    },
    free: () => freeHandlers(engine),
    whenFree: () => whenever(engine, () => freeHandlers(engine) > 0 || engine.stopping.signal.aborted),
    report: (event) => report(engine, event),
  };
}

function notLost(feed: FeedState): void {
  if (feed.isLost) throw new Error("the connection was lost before it was in use");
}

/** Closes once, because a closed feed is not used again. */
function closeAtOnce(feed: FeedState): void {
  const { opened } = feed;
  feed.opened = null;
  opened?.close(0).catch(() => undefined);
}

/**
 * The connection is gone. Its handlers go on, but their outcomes are dropped: the broker delivers their messages again.
 */
function loseFeed(engine: Engine, feed: FeedState, cause: unknown): void {
  if (feed.isLost) return;
  if (feed.blockedBecause !== null) report(engine, { kind: "unblocked" });
  feed.blockedBecause = null;
  feed.isLost = true;
  feed.over.abort();
  engine.waiting = engine.waiting.filter((held) => held.feed !== feed);
  closeAtOnce(feed);
  wakeWatchers(engine);
  // The caller that opens a feed also handles its loss, as long as the feed is not in use.
  if (engine.feed === feed && !engine.stopping.signal.aborted) engine.reconnecting = reconnect(engine, cause);
}

async function reconnect(engine: Engine, firstCause: unknown): Promise<void> {
  const pauses = growingPauses(firstPauseMs, longestPauseMs);
  let nextTryMs = pauses.next();
  report(engine, { kind: "lost", error: firstCause, nextTryMs });
  for (let tries = 1; ; tries++) {
    await pauseMs(nextTryMs, engine.stopping.signal);
    if (engine.stopping.signal.aborted) return;
    try {
      await openFeed(engine, Math.min(Math.ceil(tries / triesOfOneTime) * acceptsAgainWithinMs, acceptsWithinMs));
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
