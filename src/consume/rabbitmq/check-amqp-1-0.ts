import type { Connection } from "rhea";

import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import { connectByAmqp10, endConnection } from "./connect-amqp-1-0.ts";
import { askLogin } from "./credentials.ts";
import { judgeFound } from "./judge-found.ts";
import { greetedVersion } from "./greeted-version.ts";
import { connectToOne, NoNodeError } from "./nodes.ts";
import { lookByAmqp10 } from "./look-amqp-1-0.ts";
import { noConnections } from "./refusals.ts";

const greetsWithinMs = 10_000;

/**
 * Looks at what is deployed. AMQP 1.0 has no passive declarations; the management node of the broker shows queues, and the rest only the management
 * API.
 *
 * @throws RefusedError
 */
export async function checkByAmqp10(comparison: Comparison<"rabbitmq">): Promise<void> {
  const { connected: connection } = await askLogin(comparison.connection)
    .then((login) => connectToOne(comparison.connection, null, (node) => connectByAmqp10(node, login, () => undefined)))
    .catch(async (cause: unknown) => {
      await judgeOlder(comparison, cause);
      throw refused(noConnections(comparison.connection, cause));
    });
  try {
    const { presences, made } = await lookByAmqp10(connection, comparison.compiled.topology);
    const found = {
      version: versionOf(connection),
      queues: presences,
      exchanges: new Map(),
      // All that this protocol's contracts do is settle: the broker moves the messages.
      refusals: [],
      unasked: [],
    };
    await judgeFound(comparison, found, async () => made);
  } finally {
    await endConnection(connection, 2_000);
  }
}

/**
 * Before 4.0 AMQP 1.0 is a plugin. Without it the broker answers with the header of 0-9-1, and that is no matter of the connection: it is older than the
 * target.
 */
async function judgeOlder(comparison: Comparison<"rabbitmq">, cause: unknown): Promise<void> {
  const failures = cause instanceof NoNodeError ? cause.failures() : [];
  const older = failures.find(({ cause: said }) => said instanceof Error && said.message.endsWith(": 0-9-1"));
  if (older === undefined) return;
  const version = await greetedVersion({ url: older.url, tls: comparison.connection.tls, withinMs: greetsWithinMs });
  if (version === null) return;
  const nothing = { queues: new Map(), exchanges: new Map(), refusals: [], unasked: [] };
  await judgeFound(comparison, { version, ...nothing }, async () => ({ differing: [], uncompared: [] }));
}

/** RabbitMQ says its version in the properties of the open performative. */
function versionOf(connection: Connection): string {
  const version: unknown = (connection.properties as Readonly<Record<string, unknown>> | undefined)?.["version"];
  return typeof version === "string" ? version : "unknown";
}
