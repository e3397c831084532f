import { inTime } from "../long-timer.ts";
import type { RabbitmqConnection, RabbitmqCredentials } from "./connection.ts";

/** How long a program may take to give credentials. */
const givenWithinMs = 30_000;

/** What a connection is opened with. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** When the broker ends it; null where that is not told. */
  readonly expiresAtMs: number | null;
}

/** The program gave no credentials. What it threw is its cause. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/**
 * Asks the program for credentials; null where those in the URL count.
 *
 * @param givenUp ends the waiting for them
 * @throws CredentialsError
 */
export async function askLogin(
  { credentials }: RabbitmqConnection,
  givenUp: AbortSignal | null = null,
): Promise<Login | null> {
  if (credentials === undefined) return null;
  const asked = async (): Promise<RabbitmqCredentials> => credentials();
  const late = (): Error => new Error(`no credentials within ${givenWithinMs / 1_000} s`);
  const given = await inTime(givenWithinMs, asked(), late, givenUp).catch((cause: unknown) => {
    throw new CredentialsError("connection.credentials failed", { cause });
  });
  // Without a name rhea offers no password, and RabbitMQ takes the name from the token.
  const { username = "token", password, expiration } = given;
  const expiresAtMs = expiration?.getTime() ?? null;
  if (typeof username !== "string" || typeof password !== "string" || Number.isNaN(expiresAtMs)) {
    throw new CredentialsError("connection.credentials gave something else than { username, password, expiration }");
  }
  return { username, password, expiresAtMs };
}
