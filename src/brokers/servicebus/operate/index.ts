import type { ServiceBusClient } from "@azure/service-bus";

import type { AnyContract } from "../../../contract/contract.ts";
import { refused } from "../../../diagnostics/render.ts";
import { moveLent } from "../../../operate/move-lent.ts";
import type { DeadLetters, Looked, Operating, Visit } from "../../../operate/port.ts";
import { whyNot } from "../run/check-namespace.ts";
import { closeClient, codeOf, createClient, hostOf } from "../run/client.ts";
import { servicebusConnection } from "../run/connection.ts";
import { messageOf, readLetter, unsendable } from "./letter.ts";
import { isOfSdk, lendingOf } from "./move.ts";

/** The dead letters of Azure Service Bus. */
export const operating: Operating = Object.freeze({
  problemOf,
  connect,
  messageOf,
  unreachable: ({ workQueue }: AnyContract) =>
    workQueue !== null && isSubscription(workQueue) ? unreachableIn(workQueue) : null,
  unsendable,
  aboutLook: "Service Bus shows letters without taking them, in the order of their sequence numbers.",
});

/** The environment keeps the key out of the list of processes. */
const connectionString = (): string => process.env["SERVICEBUS_CONNECTION_STRING"] ?? "";

function problemOf(): string | null {
  return servicebusConnection.safeParse({ connectionString: connectionString() }).success
    ? null
    : "set SERVICEBUS_CONNECTION_STRING to a connection string of the namespace, of a key with Listen and Send";
}

async function connect(): Promise<DeadLetters> {
  const client = createClient({ connectionString: connectionString() });
  /** The letters of the first look at each queue. A redrive touches no others. */
  const frozen = new Map<string, Set<string>>();
  return {
    look: (queue, visit) =>
      told(queue, "Listen", async () => {
        const { looked, numbers } = await look(client, queue, visit);
        if (!frozen.has(queue)) frozen.set(queue, numbers);
        return looked;
      }),
    move: (queue, pass) =>
      told(queue, "Listen", async () => {
        const receiver = client.createReceiver(queue, {
          maxAutoLockRenewalDurationInMs: 0,
          skipParsingBodyAsJson: true,
        });
        try {
          return await moveLent(lendingOf(client, receiver, pass.perSecond), pass, frozen.get(queue) ?? new Set());
        } finally {
          await receiver.close().catch(() => undefined);
        }
      }),
    consumersOf: (queue) => told(queue, "Send", async () => readTarget(client, queue)),
    close: async () => closeClient(client),
  };
}

const pageLetters = 250;

/** Peeks until there are no more letters. An early end leaves the rest unseen. */
async function look(
  client: ServiceBusClient,
  queue: string,
  visit: Visit,
): Promise<{ readonly looked: Looked; readonly numbers: Set<string> }> {
  const receiver = client.createReceiver(queue, { skipParsingBodyAsJson: true });
  const numbers = new Set<string>();
  try {
    for (let isDone = false; !isDone;) {
      const page = await receiver.peekMessages(pageLetters);
      if (page.length === 0) break;
      for (const message of page) {
        if (isDone) break;
        numbers.add(String(message.sequenceNumber));
        isDone = !visit(readLetter(message, numbers.size));
      }
    }
  } finally {
    await receiver.close().catch(() => undefined);
  }
  const seen = numbers.size;
  return { looked: { ready: seen, seen, consumers: 0, isWhole: true }, numbers };
}

const isSubscription = (path: string): boolean => /\/subscriptions\//i.test(path);

function unreachableIn(workQueue: string): string {
  return `the consumer receives from the subscription ${workQueue}; nothing can be sent to it alone, because a message to the topic reaches every subscriber`;
}

async function readTarget(client: ServiceBusClient, queue: string): Promise<"unknown" | null> {
  if (isSubscription(queue)) return null;
  const sender = client.createSender(queue);
  try {
    // It opens the link, and sends nothing.
    await sender.createMessageBatch();
    return "unknown";
  } catch (cause) {
    if (codeOf(cause) === "MessagingEntityNotFound") return null;
    throw cause;
  } finally {
    await sender.close().catch(() => undefined);
  }
}

/** @throws RefusedError in place of an error of the SDK */
async function told<Result>(queue: string, claim: "Listen" | "Send", work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!isOfSdk(cause)) throw cause;
    const host = hostOf({ connectionString: connectionString() });
    throw refused([whyNot(cause, { kind: "queue", path: queue, claim, host })]);
  }
}
