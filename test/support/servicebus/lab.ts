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
import { peekAll } from "./entity.ts";
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
  /** Everything that is in a queue, a subscription or a dead-letter queue now, scheduled messages too; it stays there. */
  readonly peek: (path: string) => Promise<readonly ServiceBusReceivedMessage[]>;
  /** Everything that is in the dead-letter queue of an entity now. */
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
    // A client waits for ever for a link that it was opening when its connection was cut: 7.9.5, `$management` after a lost settlement.
    await Promise.race([client.close(), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    await emulator.stop();
  });
  const receiver = (queue: string, options: ServiceBusReceiverOptions = {}): ServiceBusReceiver =>
    client.createReceiver(queue, { maxAutoLockRenewalDurationInMs: 0, ...options });
  const peek: Lab["peek"] = async (path) => peekAll(emulator, path);
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
    peek,
    deadLetters: async (queue) => peek(`${queue}/$DeadLetterQueue`),
  };
}
