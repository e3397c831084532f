import type { ServiceBusClient } from "@azure/service-bus";

import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import { codeOf, createAdministration, createClient, hostOf } from "./client.ts";
import type { WantedEntity } from "./compare-entities.ts";
import { compareEntity, missing, wantedEntities } from "./compare-entities.ts";
import type { Contract, Operation } from "./contract.ts";
import type { Settings } from "./read-entities.ts";
import { readQueue, readSubscription, readTopic } from "./read-entities.ts";

/**
 * Looks whether the consumer may receive and send, and with the management API whether what is deployed is what was compiled. It changes nothing,
 * and receives nothing.
 *
 * @throws RefusedError
 */
export async function checkNamespace(comparison: Comparison<"servicebus">): Promise<void> {
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

/** One problem is enough: what fails for one entity fails for the next. */
async function mayUse(client: ServiceBusClient, contract: Contract, host: string): Promise<readonly Diagnostic[]> {
  const { workQueue } = contract;
  const [kind, right] = [workQueue.includes("/") ? ("subscription" as const) : ("queue" as const), "Listen"];
  try {
    await client.createReceiver(workQueue).peekMessages(1);
  } catch (error) {
    return [whyNot(error, { kind, path: workQueue, right, host })];
  }
  for (const queue of sendTargets(contract)) {
    try {
      // It opens the link, and sends nothing.
      await client.createSender(queue).createMessageBatch();
    } catch (error) {
      return [whyNot(error, { kind: "queue", path: queue, right: "Send", host })];
    }
  }
  return [];
}

/** The queues that the consumer itself sends copies to. */
function sendTargets({ outcomes, retryAfter = [] }: Contract): ReadonlySet<string> {
  const operations = [...Object.values(outcomes), ...retryAfter].flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  return new Set(operations.flatMap((operation) => ("queue" in operation ? [operation.queue] : [])));
}

/** What an SDK says may repeat what it was given, so the code alone is passed on. */
function whyNot(
  error: unknown,
  { kind, path, right, host }: { kind: WantedEntity["kind"]; path: string; right: string; host: string },
): Diagnostic {
  const code = codeOf(error);
  if (code === "MessagingEntityNotFound") return missing(kind, path);
  if (code === "UnauthorizedAccess") {
    return diagnostic("RD807", {
      path: "options.connection",
      message: `Service Bus at ${host} does not let this consumer use ${path}`,
      notes: [
        `it takes the claim ${right} there; that of a shared key may be for another entity, or the key may be wrong`,
      ],
      help: "correct the key, or give the consumer's identity the roles Azure Service Bus Data Receiver and Data Sender",
    });
  }
  const said = code === null || code === "GeneralError" ? (error as { name?: unknown }).name : code;
  return diagnostic("RD804", {
    path: "options.connection",
    message: `there is no connection to Service Bus at ${host}${typeof said === "string" ? ` (${said})` : ""}`,
    help: "check the namespace's name, and whether the network lets port 5671 through; once connected, a consumer connects again by itself",
  });
}

async function compareAll({
  compiled,
  contract,
  connection,
  report,
}: Comparison<"servicebus">): Promise<readonly Diagnostic[]> {
  try {
    const administration = createAdministration(connection);
    const compared = wantedEntities(compiled.topology, contract).map(async (wanted) =>
      compareEntity(wanted, await read(administration, wanted)),
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

function read(
  administration: ReturnType<typeof createAdministration>,
  { kind, name, topic }: WantedEntity,
): Promise<Settings | null> {
  switch (kind) {
    case "queue":
      return readQueue(administration, name);
    case "topic":
      return readTopic(administration, name);
    case "subscription":
      return readSubscription(administration, topic, name);
    default:
      return kind satisfies never;
  }
}
