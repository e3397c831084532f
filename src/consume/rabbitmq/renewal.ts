import type { SessionListener } from "../adapter.ts";
import { growingPauses } from "../breaker.ts";
import { afterMs } from "../long-timer.ts";
import type { RabbitmqConnection } from "./connection.ts";
import type { Login } from "./credentials.ts";
import { askLogin } from "./credentials.ts";

/** The part of their time after which credentials are renewed, so that there is some left to try again. */
const renewedAfter = 0.8;
/** What is waited between two renewals, whatever the program says of their time. */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Renews the credentials of one connection for as long as it lives. */
export interface Renewal {
  /** Renews them at once: the broker has refused something. */
  readonly now: () => void;
  readonly stop: () => void;
}

/**
 * A connection whose credentials expire is closed by RabbitMQ from 4.3 on, which costs every message in hand a delivery, and up to 4.0 it is
 * refused new channels. So new ones are given to the broker before. Measured: docs/broker-facts.md.
 *
 * @param first what the connection was opened with
 * @param give gives new credentials to the broker, which throws where it refuses them
 */
export function keepRenewed(
  first: Login | null,
  connection: RabbitmqConnection,
  give: (login: Login) => Promise<unknown>,
  report: SessionListener["report"],
): Renewal {
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
    now: () => {
      if (first !== null) void renew();
    },
    stop: () => {
      isOver = true;
      cancel();
    },
  };
}
