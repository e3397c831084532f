import { randomUUID } from "node:crypto";

import { type Duration, parseDurationMs } from "../../declare/duration.ts";
import { permanent } from "../failure.ts";
import type { Handler, Message } from "../message.ts";
import { unheard } from "../unheard.ts";
import type { IdempotencyStore } from "./store.ts";

export interface OnceOptions<Body = unknown> {
  /** The memory of handled messages. Instances that share a queue must share it. */
  readonly store: IdempotencyStore;
  /** The consumer's name. It is part of every key: a message for two consumers has one id, and each must handle it. */
  readonly consumer: string;
  /**
   * The time that a run may take before another one may begin. Make it longer than `handlerTimeout`, or two runs can
   * overlap.
   */
  readonly expires: Duration;
  /**
   * The time for which a handled message is recognised. Make it as long as the message can come again: through retries
   * and through dead letters that are sent again.
   */
  readonly keep: Duration;
  /** The key that equal messages share. The default is the message's id. Null for a message without such a key. */
  readonly key?: (message: Message<Body>) => string | null;
  /**
   * Hears of a successful run that could not be remembered, and of a claim that could not be released. Its errors are
   * ignored.
   */
  readonly storeFailed?: (error: unknown, key: string) => void;
}

/** Another run is handling the same message. */
class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
}

/**
 * Runs a handler once for equal messages, however often and wherever they are delivered, as long as the store
 * remembers.
 *
 * - A handled message is a success at once.
 * - A message that another run is handling is a transient failure. It costs this delivery an attempt. Its next delivery
 *   finds the other run's success, or takes its place if it failed or crashed. So `expires` should end before the
 *   retries do.
 * - A message without a key is dead at once, with the reason `NO_IDEMPOTENCY_KEY`, because it could be a duplicate of
 *   any other.
 * - If the store does not answer at the beginning, that is a transient failure, and the handler does not run. If it
 *   does not answer at the end, the handler's own outcome counts, and `storeFailed` hears of it.
 *
 * After a crash between the handler's last effect and `finish`, the handler runs again. To exclude that, write its
 * effects and the key in one transaction.
 *
 * @throws TypeError if a duration is not valid
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
