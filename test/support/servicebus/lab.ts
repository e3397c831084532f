import type {
  CreateQueueOptions,
  ServiceBusAdministrationClient,
  ServiceBusClient,
  ServiceBusClientOptions,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusReceiverOptions,
} from "@azure/service-bus";

import { createAdministration, createClient } from "./clients.ts";
import { type ServicebusEmulator, startEmulator } from "./emulator/emulator.ts";
import { waitUntil } from "./wait.ts";

/** An emulator with clients of its own, for one test. */
export interface Lab {
  readonly emulator: ServicebusEmulator;
  readonly client: ServiceBusClient;
  readonly administration: ServiceBusAdministrationClient;
  readonly queue: (name: string, options?: CreateQueueOptions) => Promise<void>;
  /** A receiver that renews no lock, unless it is asked to. */
  readonly receiver: (queue: string, options?: ServiceBusReceiverOptions) => ServiceBusReceiver;
  /** Waits until so many messages are there. @throws Error where they do not come */
  readonly receive: (
    from: string | ServiceBusReceiver,
    count?: number,
  ) => Promise<readonly ServiceBusReceivedMessage[]>;
  /** Everything that is in a dead-letter queue now, which stays there. */
  readonly deadLetters: (queue: string) => Promise<readonly ServiceBusReceivedMessage[]>;
}

/** @param finished the `onTestFinished` of the test's own context: concurrent tests have to tell theirs apart */
export async function startLab(
  finished: (end: () => Promise<void>) => void,
  options: ServiceBusClientOptions = {},
): Promise<Lab> {
  const emulator = await startEmulator();
  const client = createClient(emulator, options);
  const administration = createAdministration(emulator);
  finished(async () => {
    await client.close();
    await emulator.stop();
  });
  const receiver = (queue: string, options: ServiceBusReceiverOptions = {}): ServiceBusReceiver =>
    client.createReceiver(queue, { maxAutoLockRenewalDurationInMs: 0, ...options });
  return {
    emulator,
    client,
    administration,
    queue: async (name, options) => {
      await administration.createQueue(name, options);
    },
    receiver,
    receive: async (from, count = 1) => {
      const source = typeof from === "string" ? receiver(from) : from;
      const messages: ServiceBusReceivedMessage[] = [];
      await waitUntil(async () => {
        messages.push(...(await source.receiveMessages(count - messages.length, { maxWaitTimeInMs: 1_000 })));
        return messages.length === count;
      });
      return messages;
    },
    deadLetters: async (queue) => {
      const dead = client.createReceiver(queue, { subQueueType: "deadLetter" });
      const letters = await dead.peekMessages(1_000);
      await dead.close();
      return letters;
    },
  };
}
