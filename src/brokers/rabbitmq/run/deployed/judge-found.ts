import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { refused } from "../../../../diagnostics/render.ts";
import type { Comparison } from "../port.ts";
import { type Found, type Made, compareFound } from "./compare.ts";
import { type RabbitmqConnection, anyUrlOf, virtualHostIn } from "../connection.ts";
import { type Login, askLogin } from "../credentials.ts";
import { type ManagementLogin, readSettings } from "./read-settings.ts";

/**
 * Compares the found resources with the compiled ones, through the management API if its URL is given.
 *
 * @param look asks the broker by AMQP for the arguments of queues and exchanges, if the management API does not show
 *   them
 * @throws RefusedError if there is a difference
 */
export async function judgeFound(
  comparison: Comparison,
  found: Omit<Found, "settings" | "made">,
  look: () => Promise<Made>,
): Promise<void> {
  const { compiled, connection, report } = comparison;
  const { managementUrl } = connection;
  const version = numberIn(found.version);
  const settings =
    managementUrl === undefined
      ? { unreadable: "no managementUrl is given" }
      : await readSettings(
          managementLogin(managementUrl, connection, await askLogin(connection)),
          virtualHostIn(anyUrlOf(connection)),
          compiled.topology,
        );
  const pair = { compiled, there: compiledFor(comparison, version) };
  const made = "unreadable" in settings ? await look() : { differing: [], uncompared: [] };
  const { problems, events } = compareFound(pair, { ...found, version, settings, made });
  if (problems.length > 0) throw refused(problems);
  for (const event of events) report(event);
}

/** The user in the management URL, or else that of the connection. A program may have given the latter. */
export function managementLogin(
  managementUrl: string,
  connection: RabbitmqConnection,
  given: Login | null,
): ManagementLogin {
  const { tls } = connection;
  const { origin, username: ownName, password: ownPassword } = new URL(managementUrl);
  if (ownName === "" && given !== null) return { origin, ...given, tls };
  const { username, password } =
    ownName === "" ? new URL(anyUrlOf(connection)) : { username: ownName, password: ownPassword };
  return {
    origin,
    tls,
    username: decodeURIComponent(username) || "guest",
    password: decodeURIComponent(password) || "guest",
  };
}

/** Without the suffix of a build, such as `-rc.1`. */
function numberIn(version: string): string {
  return /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? version;
}

/** Compiles for another version, with the deployed strategy. */
function compiledFor({ compileFor, contract }: Comparison, version: string): RabbitmqCompiled | null {
  const { strategy, instanceQueue } = contract;
  const asked = instanceQueue === undefined ? { strategy: strategy as "staged" } : {};
  // The patch release is that of a target which was checked before.
  const other = { broker: "rabbitmq", version, patch: null, strategies: undefined, ...asked } as const;
  const result = compileFor(other);
  return result.ok ? result.value : null;
}
