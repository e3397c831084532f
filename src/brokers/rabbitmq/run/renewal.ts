import type { FeedListener } from "../../../consume/port/adapter.ts";
import { growingPauses } from "../../../consume/port/growing-pauses.ts";
import { afterMs } from "../../../consume/port/long-timer.ts";
import type { RabbitmqConnection } from "./connection.ts";
import { type Login, askLogin } from "./credentials.ts";

/** The part of their lifetime after which credentials are renewed. The rest leaves time to try again. */
const renewedAfter = 0.8;
/** The shortest pause between two renewals, for any lifetime that the program names. */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;

/**
 * Gives the broker new credentials before the old ones expire. From 4.3 on RabbitMQ closes a connection with expired
 * credentials, which costs every message in hand a delivery. Up to 4.0 it refuses new channels on it. Measured:
 * docs/broker-facts.md.
 *
 * @param first the credentials that opened the connection
 * @param give passes new credentials to the broker, and throws if the broker refuses them
 */
export function keepRenewed(
  first: Login | null,
  connection: RabbitmqConnection,
  give: (login: Login) => Promise<unknown>,
  report: FeedListener["report"],
) {
  const pauses = growingPauses(shortestPauseMs, longestPauseMs);
  let cancel = (): void => undefined;
  let isRenewing = false;
  let isOver = false;
  const renewAfter = (delayMs: number): void => {
    cancel();
    if (!isOver) cancel = afterMs(delayMs, () => void renew());
  };
  const renewBefore = ({ expiresAtMs }: Login): void => {
    if (expiresAtMs !== null) renewAfter(Math.max(shortestPauseMs, (expiresAtMs - Date.now()) * renewedAfter));
  };
  const renew = async (): Promise<void> => {
    if (isRenewing || isOver) return;
    isRenewing = true;
    cancel();
    try {
      const login = await askLogin(connection);
      if (login === null || isOver) return;
      await give(login);
      pauses.reset();
      renewBefore(login);
    } catch (error) {
      if (isOver) return;
      const nextTryMs = pauses.next();
      report({ kind: "renew-failed", error, nextTryMs });
      renewAfter(nextTryMs);
    } finally {
      isRenewing = false;
    }
  };
  if (first !== null) renewBefore(first);
  return {
    /** Renews them at once, because the broker has refused an operation. */
    now: () => {
      if (first !== null) void renew();
    },
    stop: () => {
      isOver = true;
      cancel();
    },
  };
}
