import type { CompiledSystem } from "../../brokers/index.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import type { Found, Made } from "./compare.ts";
import { compareFound } from "./compare.ts";
import type { RabbitmqConnection } from "./connection.ts";
import { anyUrlOf, virtualHostIn } from "./connection.ts";
import { askLogin } from "./credentials.ts";
import type { ManagementLogin } from "./read-settings.ts";
import { readSettings } from "./read-settings.ts";

/**
 * Compares what was found with what was compiled; with the management API where its URL is given.
 *
 * @param look asks the broker by AMQP what queues and exchanges were made with, where the management API does not tell
 * @throws RefusedError where something of it differs
 */
export async function judgeFound(
  comparison: Comparison<"rabbitmq">,
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
          await managementLogin(managementUrl, connection),
          virtualHostIn(anyUrlOf(connection)),
          compiled.topology,
        );
  const pair = { compiled, there: compiledFor(comparison, version) };
  const made = "unreadable" in settings ? await look() : { differing: [], uncompared: [] };
  const { problems, events } = compareFound(pair, { ...found, version, settings, made });
  if (problems.length > 0) throw refused(problems);
  for (const event of events) report(event);
}

/** The user in its own URL, and where there is none that of the connection. */
async function managementLogin(managementUrl: string, connection: RabbitmqConnection): Promise<ManagementLogin> {
  const { origin, username: ownName, password: ownPassword } = new URL(managementUrl);
  if (ownName === "") {
    const login = await askLogin(connection);
    if (login !== null) return { origin, ...login };
  }
  const { username, password } =
    ownName === "" ? new URL(anyUrlOf(connection)) : { username: ownName, password: ownPassword };
  return {
    origin,
    username: decodeURIComponent(username) || "guest",
    password: decodeURIComponent(password) || "guest",
  };
}

/** Without what a build puts behind it, such as `-rc.1`. */
function numberIn(version: string): string {
  return /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? version;
}

/** What comes out for another version, with the strategy that is deployed. */
function compiledFor(
  { compileFor, contract }: Comparison<"rabbitmq">,
  version: string,
): CompiledSystem<"rabbitmq"> | null {
  const { strategy, instanceQueue } = contract;
  const asked = instanceQueue === undefined ? { strategy: strategy as "staged" } : {};
  const result = compileFor({ broker: "rabbitmq", version, ...asked });
  return result.ok ? result.value : null;
}
