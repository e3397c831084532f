import type { ServiceBusClient } from "@azure/service-bus";

import { operationsIn } from "../../../contract/interpret.ts";
import { claimOf } from "../compile/permissions.ts";
import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { Comparison } from "./port.ts";
import { codeOf, createAdministration, createClient, hostOf } from "./client.ts";
import { compareEntity, missing, wantedEntities } from "./compare-entities.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import type { Named } from "../compile/differences.ts";
import { readEntity } from "./read-entities.ts";

/**
 * Checks whether the consumer may receive and send. With the management API it also compares the deployed entities with
 * the compiled ones. It changes nothing, and receives nothing.
 *
 * @throws RefusedError
 */
export async function checkNamespace(comparison: Comparison): Promise<void> {
  const { contract, connection } = comparison;
  const client = createClient(connection);
  const host = hostOf(connection);
  try {
    const problems = await mayUse(client, contract, host);
    if (problems.length > 0) throw refused(problems);
  } finally {
    await client.close().catch(() => undefined);
  }
  const problems = await compareAll(comparison);
  if (problems.length > 0) throw refused(problems);
}

/** One problem is enough, because the next entity would fail alike. */
async function mayUse(client: ServiceBusClient, contract: Contract, host: string): Promise<readonly Diagnostic[]> {
  const { workQueue } = contract;
  const kind = workQueue.includes("/") ? "subscription" : "queue";
  try {
    await client.createReceiver(workQueue).peekMessages(1);
  } catch (error) {
    return [whyNot(error, { kind, path: workQueue, claim: "Listen", host })];
  }
  const operations = operationsIn<Operation>(contract);
  // The consumer itself sends copies to these.
  for (const queue of new Set(operations.flatMap((operation) => ("queue" in operation ? [operation.queue] : [])))) {
    try {
      // It opens the link, and sends nothing.
      await client.createSender(queue).createMessageBatch();
    } catch (error) {
      return [whyNot(error, { kind: "queue", path: queue, claim: "Send", host })];
    }
  }
  return [];
}

/** Why an entity cannot be used. An SDK's error may repeat its input, so only the code is passed on. */
export function whyNot(
  error: unknown,
  { kind, path, claim, host }: { kind: Named["kind"]; path: string; claim: "Listen" | "Send"; host: string },
): Diagnostic {
  const code = codeOf(error);
  if (code === "MessagingEntityNotFound") return missing(kind, path);
  if (code === "UnauthorizedAccess")
    return diagnostic("RD807", {
      path: "options.connection",
      message: `Service Bus at ${host} does not let this client use ${path}`,
      notes: [`it needs the claim ${claim} there; a shared key may be for another entity, or wrong`],
      help: `correct the key, or give the client's identity the role ${claimOf(claim).role} on ${path}`,
    });
  const said = code === null || code === "GeneralError" ? (error as { name?: unknown }).name : code;
  return diagnostic("RD804", {
    path: "options.connection",
    message: `there is no connection to Service Bus at ${host}${typeof said === "string" ? ` (${said})` : ""}`,
    help: "check the namespace's name, and whether the network allows port 5671; after its first connection a consumer reconnects by itself",
  });
}

async function compareAll({ compiled, contract, connection, report }: Comparison): Promise<readonly Diagnostic[]> {
  try {
    const administration = createAdministration(connection);
    const compared = wantedEntities(compiled, contract).map(async (wanted) =>
      compareEntity(wanted, await readEntity(administration, wanted)),
    );
    return (await Promise.all(compared)).flat();
  } catch (error) {
    const status = (error as { statusCode?: unknown }).statusCode;
    const isRefused = status === 401 || status === 403;
    const because = isRefused
      ? `the management API refuses this consumer (${status}), which has no claim Manage`
      : "the management API does not answer";
    report({ kind: "not-compared", what: "the settings of queues, topics and subscriptions", because });
    return [];
  }
}
