import { type Delivery, type Feed, NotOursError } from "../../../consume/port/adapter.ts";
import type { Adapter, Opening } from "./port.ts";
import { atMost } from "../../../consume/port/long-timer.ts";
import { createAcceptingSessions } from "./accepting-sessions.ts";
import { noProgress } from "../../../consume/port/perform-all.ts";
import { checkNamespace } from "./check-namespace.ts";
import { closeClient, createClient, onceDisconnected } from "./client.ts";
import type { Operation } from "../compile/contract.ts";
import { createOnePerTurn } from "./one-per-turn.ts";
import { originalIdOf, readDelivery } from "./read-delivery.ts";
import type { ReceivingInput } from "./receiving.ts";
import { type LockedMessage, createSettling, settleMessage } from "./settling.ts";
import { createStreaming } from "./streaming.ts";

export const adapter: Adapter = {
  check: checkNamespace,
  open,
  // Returning it always costs a delivery. While it waits, the SDK renews its lock.
  unstarted: "hold",
};

async function open({ contract, connection, concurrency, listener }: Opening): Promise<Feed> {
  const client = createClient(connection);
  try {
    // Receivers connect later and report errors by themselves. So this peek checks whether the queue can be received
    // from.
    await client.createReceiver(contract.workQueue).peekMessages(1);
  } catch (error) {
    void client.close().catch(() => undefined);
    throw error;
  }
  const settling = createSettling(client, contract, createOnePerTurn());
  const held = new WeakMap<Delivery, LockedMessage>();
  const unsettled = new Set<(cause: unknown) => void>();
  let isGone = false;
  const leave = (): void => {
    isGone = true;
    receiving.end();
  };
  onceDisconnected(client, (cause) => {
    leave();
    listener.lost(cause);
    for (const fail of unsettled) fail(new NotOursError(cause));
  });
  const received: ReceivingInput["received"] = (receiver, message) =>
    new Promise((over) => {
      // A message that comes while the connection is given up stays locked until its lock ends.
      if (isGone) return;
      settling.clock.measure(message);
      const delivery = readDelivery(contract, message);
      const originalId = originalIdOf(contract, message);
      held.set(delivery, { message, receiver, originalId, over, progress: noProgress(), lockedUntilMs: null });
      listener.delivered(delivery);
    });
  const create = contract.receive.sessions ? createAcceptingSessions : createStreaming;
  const receiving = create({ client, contract, concurrency, listener, received });
  return {
    resume: async () => receiving.resume(),
    pause: receiving.pause,
    settle: (delivery, operations, values) => {
      const message = held.get(delivery);
      if (message === undefined) throw new Error("the delivery is another connection's");
      return new Promise((resolve, reject) => {
        unsettled.add(reject);
        const settled = settleMessage(settling, message, operations as readonly Operation[], values);
        void settled.then(resolve, reject).finally(() => unsettled.delete(reject));
      });
    },
    close: async (withinMs) => {
      leave();
      const closed = closeClient(client);
      if (withinMs > 0) await atMost(withinMs, closed);
    },
  };
}
