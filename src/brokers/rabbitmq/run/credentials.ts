import { inTime } from "../../../consume/port/long-timer.ts";
import type { RabbitmqConnection, RabbitmqCredentials } from "./connection.ts";

/** The time that a program has to give credentials. */
const givenWithinMs = 30_000;

export interface Login {
  readonly username: string;
  readonly password: string;
  /** When the credentials expire. Null if unknown. */
  readonly expiresAtMs: number | null;
}

/** The program gave no credentials. The cause is the error that it threw. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/**
 * Asks the program for credentials. Null if those in the URL apply.
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
  // Without a name rhea offers no password. RabbitMQ takes the name from the token.
  const { username = "token", password, expiration } = given;
  const expiresAtMs = expiration?.getTime() ?? null;
  if (typeof username !== "string" || typeof password !== "string" || Number.isNaN(expiresAtMs)) {
    throw new CredentialsError("connection.credentials gave something else than { username, password, expiration }");
  }
  return { username, password, expiresAtMs };
}
