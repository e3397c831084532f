import type { SQSClient } from "@aws-sdk/client-sqs";

import type { Delivery, Feed } from "../../../consume/port/adapter.ts";
import type { Adapter, Opening } from "./port.ts";
import { noProgress } from "../../../consume/port/perform-all.ts";
import { checkQueues } from "./check-queues.ts";
import { createClient, placeOf } from "./client.ts";
import type { Operation } from "../compile/contract.ts";
import { findUrls, queuesOf } from "./queue-urls.ts";
import { readDelivery } from "./read-delivery.ts";
import { createReceiving, waitSecondsFor } from "./receiving.ts";
import { type ReceivedMessage, settleMessage } from "./settling.ts";

export const adapter: Adapter = {
  check: checkQueues,
  open,
  // SQS would make a waiting message visible to others anyway, so the consumer returns it at once.
  unstarted: "return",
};

async function open({ compiled, contract, connection, listener }: Opening): Promise<Feed> {
  let current = createClient(compiled, connection);
  const client = (): SQSClient => current;
  // The old client finishes its requests. Idle sockets keep no process alive.
  const renew = (): void => {
    current = createClient(compiled, connection);
  };
  const { work, dead } = queuesOf(compiled, contract);
  const urls = await findUrls(current, [work.name, dead.name]);
  const urlOf = (queue: string): string => {
    const url = urls.get(queue);
    if (url === undefined)
      throw new Error(`the contract names ${queue}, which is neither the work queue nor the dead queue`);
    return url;
  };
  const workQueueUrl = urlOf(work.name);
  const held = new WeakMap<Delivery, ReceivedMessage>();
  const receiving = createReceiving({
    client,
    renew,
    queueUrl: workQueueUrl,
    place: placeOf(compiled, connection),
    waitSeconds: waitSecondsFor(work, contract),
    contract,
    listener,
    received: (messages, askedAtMs) => {
      const hiddenUntilMs = askedAtMs + work.visibilityTimeoutSeconds * 1_000;
      for (const message of messages) {
        const delivery = readDelivery(contract, message);
        held.set(delivery, { message, hiddenUntilMs, progress: noProgress() });
        listener.delivered(delivery);
      }
    },
  });
  return {
    resume: receiving.resume,
    pause: receiving.pause,
    settle: (delivery, operations, values) => {
      const message = held.get(delivery);
      if (message === undefined) throw new Error("the delivery is another connection's");
      if (operations.length === 0) return undefined;
      return settleMessage({ client, renew, workQueueUrl, urlOf }, message, operations as readonly Operation[], values);
    },
    close: async (withinMs) => {
      await receiving.close(withinMs);
      current.destroy();
    },
  };
}
