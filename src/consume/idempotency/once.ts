import { randomUUID } from "node:crypto";

import { type Duration, parseDurationMs } from "../../declare/duration.ts";
import { permanent } from "../failure.ts";
import type { Handler, Message } from "../message.ts";
import { unheard } from "../unheard.ts";
import type { IdempotencyStore } from "./store.ts";

export interface OnceOptions<Body = unknown> {
  readonly store: IdempotencyStore;
  /**
   * The consumer's name. It is part of every key: a message that two consumers get has one id, and each of them has to handle it.
   */
  readonly consumer: string;
  /** How long a run may take before another one may begin. Longer than `handlerTimeout`, or two runs can overlap. */
  readonly expires: Duration;
  /** How long a message that was handled is recognised. As long as it can come again: the retries, and the dead letters that are sent back. */
  readonly keep: Duration;
  /** What makes two messages the same; the message's id unless said otherwise. Null for a message that has nothing like it. */
  readonly key?: (message: Message<Body>) => string | null;
  /** Hears of a run that ended well and could not be remembered, or of a claim that could not be given back. What it throws is not looked at. */
  readonly storeFailed?: (error: unknown, key: string) => void;
}

/** Another run is handling the same message. */
class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
}

/**
 * Runs a handler once for messages that are the same, however often and wherever they are delivered, for as long as the store remembers.
 *
 * - A message that was handled is a success at once.
 * - A message that another run is handling right now is a transient failure: it costs this delivery an attempt, and its next one finds
 *   the other run's success, or takes its place if it failed or crashed. So `expires` should be over before the retries are.
 * - A message without a key is dead at once, with the reason `NO_IDEMPOTENCY_KEY`: it could be a duplicate of any other.
 * - Where the store does not answer at the beginning, it is a transient failure, and the handler does not run. Where it does not answer at the
 *   end, the handler's own outcome counts, and `storeFailed` hears of it.
 *
 * A crash between the handler's last effect and `finish` lets the handler run again: where that must not be, its effects and the key belong into
 * one transaction.
 *
 * @throws TypeError where a duration is none
 */
export function once<Body>(options: OnceOptions<Body>, handler: Handler<Body>): Handler<Body> {
  const { store, consumer, key: keyOf = ({ id }) => id, storeFailed = () => undefined } = options;
  const expiresAfterMs = parseDurationMs(options.expires);
  const keepForMs = parseDurationMs(options.keep);
  const tell = async (key: string, telling: () => Promise<void>): Promise<void> => {
    try {
      await telling();
    } catch (error) {
      unheard(() => storeFailed(error, key));
    }
  };
  return async (message, attempt) => {
    const own = keyOf(message);
    if (own === null || own === "") throw permanent("NO_IDEMPOTENCY_KEY");
    const key = `${consumer}:${own}`;
    const token = randomUUID();
    const claim = await store.begin(key, token, expiresAfterMs);
    if (claim === "done") return;
    if (claim === "running") throw new AlreadyRunningError("another run is handling this message");
    try {
      await handler(message, attempt);
    } catch (error) {
      await tell(key, () => store.release(key, token));
      throw error;
    }
    await tell(key, () => store.finish(key, keepForMs));
  };
}
