import type { SQSClient } from "@aws-sdk/client-sqs";

import type { Adapter, Delivery, Opening, Session } from "../adapter.ts";
import { checkQueues } from "./check-queues.ts";
import { createClient, placeOf } from "./client.ts";
import type { Operation } from "./contract.ts";
import { findUrls, queuesOf } from "./queue-urls.ts";
import { readDelivery } from "./read-delivery.ts";
import { createReceiving, waitSecondsFor } from "./receiving.ts";
import { type HeldMessage, settle } from "./settling.ts";

/** SQS, with the AWS SDK. */
export const sqsClientAdapter: Adapter<"sqs"> = {
  check: checkQueues,
  open,
  // A message that waits here comes back to others all the same, so it goes back at once.
  unstarted: "return",
};

async function open({ compiled, contract, connection, listener }: Opening<"sqs">): Promise<Session> {
  let current = createClient(compiled, connection);
  const client = (): SQSClient => current;
  // The old one is left to its requests; idle sockets keep no process alive.
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
  const held = new WeakMap<Delivery, HeldMessage>();
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
        held.set(delivery, { message, hiddenUntilMs, begun: null });
        listener.delivered(delivery);
      }
    },
  });
  return {
    resume: receiving.resume,
    pause: receiving.pause,
    settle: (delivery, operations, values) => {
      const message = held.get(delivery);
      if (message === undefined) throw new Error("the delivery is another session's");
      if (operations.length === 0) return undefined;
      return settle({ client, renew, workQueueUrl, urlOf }, message, operations as readonly Operation[], values);
    },
    close: async (withinMs) => {
      await receiving.close(withinMs);
      current.destroy();
    },
  };
}
