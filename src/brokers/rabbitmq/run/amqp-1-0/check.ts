import type { Connection } from "rhea";

import { refused } from "../../../../diagnostics/render.ts";
import type { Comparison } from "../port.ts";
import { connectByAmqp10, endConnection } from "./connect.ts";
import { askLogin } from "../credentials.ts";
import { judgeFound } from "../deployed/judge-found.ts";
import { greetedVersion } from "../deployed/greeted-version.ts";
import { connectToOne, NoNodeError } from "../nodes.ts";
import { lookByAmqp10 } from "./look.ts";
import { noConnections } from "../refusals.ts";

const greetsWithinMs = 10_000;

/**
 * Reads the deployed resources. AMQP 1.0 has no passive declarations. The broker's management node shows queues, and
 * only the management API shows the rest.
 *
 * @throws RefusedError
 */
export async function checkByAmqp10(comparison: Comparison): Promise<void> {
  const { givenUp } = comparison;
  const { connected: connection } = await askLogin(comparison.connection, givenUp)
    .then((login) =>
      connectToOne(comparison.connection, givenUp, (node) => connectByAmqp10(node, login, () => undefined, givenUp)),
    )
    .catch(async (cause: unknown) => {
      givenUp.throwIfAborted();
      await judgeOlder(comparison, cause);
      throw refused(noConnections(comparison.connection, cause));
    });
  try {
    const { presences, made } = await lookByAmqp10(connection, comparison.compiled.topology);
    const found = {
      version: versionOf(connection),
      queues: presences,
      exchanges: new Map(),
      // By this protocol's contracts a consumer only settles, and the broker moves the messages.
      refusals: [],
      unasked: [],
    };
    givenUp.throwIfAborted();
    await judgeFound(comparison, found, async () => made);
  } finally {
    await endConnection(connection, 2_000);
  }
}

/**
 * Before 4.0 AMQP 1.0 is a plugin. Without it the broker answers with the header of 0-9-1. That is no problem of the
 * connection: the broker is older than the target.
 */
async function judgeOlder(comparison: Comparison, cause: unknown): Promise<void> {
  const failures = cause instanceof NoNodeError ? cause.failures() : [];
  const older = failures.find(({ cause: said }) => said instanceof Error && said.message.endsWith(": 0-9-1"));
  if (older === undefined) return;
  const version = await greetedVersion({ url: older.url, tls: comparison.connection.tls, withinMs: greetsWithinMs });
  if (version === null) return;
  const nothing = { queues: new Map(), exchanges: new Map(), refusals: [], unasked: [] };
  await judgeFound(comparison, { version, ...nothing }, async () => ({ differing: [], uncompared: [] }));
}

/** RabbitMQ names its version in the properties of the open performative. */
function versionOf(connection: Connection): string {
  const version: unknown = (connection.properties as Readonly<Record<string, unknown>> | undefined)?.["version"];
  return typeof version === "string" ? version : "unknown";
}
