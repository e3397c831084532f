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
import { type ServicebusEmulator, startEmulator } from "./emulator.ts";
import { peekAll } from "./entity.ts";
import type { Sku } from "./redeliver.ts";
import { waitUntil } from "./wait-until.ts";

/** An emulator with clients of its own, for one test. */
export interface Lab {
  readonly emulator: ServicebusEmulator;
  readonly client: ServiceBusClient;
  readonly administration: ServiceBusAdministrationClient;
  readonly queue: (name: string, options?: CreateQueueOptions) => Promise<void>;
  /** A receiver that renews no lock by itself. */
  readonly receiver: (queue: string, options?: ServiceBusReceiverOptions) => ServiceBusReceiver;
  /** Waits until this many messages have arrived. @throws Error if they do not come */
  readonly receive: (
    from: string | ServiceBusReceiver,
    count?: number,
  ) => Promise<readonly ServiceBusReceivedMessage[]>;
  /** Everything in a queue, a subscription or a dead-letter queue now, including scheduled messages. It stays there. */
  readonly peek: (path: string) => Promise<readonly ServiceBusReceivedMessage[]>;
  /** Everything in the dead-letter queue of an entity now. */
  readonly deadLetters: (queue: string) => Promise<readonly ServiceBusReceivedMessage[]>;
}

/** @param finished the `onTestFinished` of the test's own context, because concurrent tests must not mix theirs up */
export async function startLab(
  finished: (end: () => Promise<void>) => void,
  options: ServiceBusClientOptions & { readonly sku?: Sku } = {},
): Promise<Lab> {
  const { sku = "standard", ...clientOptions } = options;
  const emulator = await startEmulator(sku);
  const client = createClient(emulator, clientOptions);
  const administration = createAdministration(emulator);
  finished(async () => {
    // A client waits for ever for a link if its connection was cut while the link opened: 7.9.5, `$management` after a
    // lost settlement.
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
