import type { ServiceBusClient } from "@azure/service-bus";

import type { AnyContract } from "../../../contract/contract.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { Letter } from "../../../operate/letter.ts";
import { sendOften } from "../../../operate/carry-out.ts";
import type { DeadLetters, Looked, Operating, Visit } from "../../../operate/port.ts";
import { whyNot } from "../run/check-namespace.ts";
import { missing } from "../run/compare-entities.ts";
import { closeClient, codeOf, createClient, hostOf } from "../run/client.ts";
import { servicebusConnection } from "../run/connection.ts";
import { amqpMessageOf, messageOf, readLetter, unsendable } from "./letter.ts";
import { move, sendTo, senderTo } from "./move.ts";
import { isOfSdk, peekAll } from "./take.ts";

/** The dead letters of Azure Service Bus. */
export const operating: Operating = Object.freeze({
  problemOf,
  connect,
  messageOf,
  unreachable: ({ workQueue }: AnyContract) =>
    workQueue !== null && isSubscription(workQueue) ? unreachableIn(workQueue) : null,
  unsendable,
  identityOf: ({ properties }: Letter) => String(properties["sequenceNumber"]),
  addressOf: () => hostOf({ connectionString: connectionString() }),
  windowLetters: 1,
  closedFor: (queue: string) =>
    /\$DeadLetterQueue$/i.test(queue)
      ? `Service Bus lets nobody send to ${queue}: name an ordinary queue, such as the one for parked letters`
      : null,
  diedIn: ({ properties: { deadLetterSource: queue } }: Letter) => (queue === undefined ? null : String(queue)),
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
  return {
    look: (queue, visit) => told(queue, "Listen", () => look(client, queue, visit)),
    move: (queue, pass) => told(queue, "Listen", () => move(client, queue, pass)),
    putInto: (queue) =>
      told(queue, "Send", async () => {
        if ((await readTarget(client, queue)) === null) throw refused([missing("queue", queue)]);
        const send = senderTo(client, queue);
        let doubled = 0;
        return {
          window: 1,
          put: (letter) =>
            sendOften(
              queue,
              () => sendTo(send, queue, amqpMessageOf(letter)),
              () => (doubled += 1),
            ),
          mayBeDoubled: () => doubled,
          close: async () => undefined,
        };
      }),
    consumersOf: (queue) => told(queue, "Send", async () => readTarget(client, queue)),
    close: async () => closeClient(client),
  };
}

/** Peeks until there are no more letters. An early end leaves the rest unseen. */
async function look(client: ServiceBusClient, queue: string, visit: Visit): Promise<Looked> {
  let seen = 0;
  for await (const message of peekAll(client, queue)) {
    seen += 1;
    if (!visit(readLetter(message, seen, queue))) break;
  }
  return { ready: seen, seen, consumers: 0, isWhole: true };
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
