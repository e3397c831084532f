import { NotOursError } from "../adapter.ts";
import type { Adapter, Delivery, Opening, Session } from "../adapter.ts";
import { atMost } from "../long-timer.ts";
import { createAcceptingSessions } from "./accepting-sessions.ts";
import { checkNamespace } from "./check-namespace.ts";
import { closeClient, createClient, onceDisconnected } from "./client.ts";
import type { Operation } from "./contract.ts";
import { createOnePerTurn } from "./one-per-turn.ts";
import { originalIdOf, readDelivery } from "./read-delivery.ts";
import type { ReceivingInput } from "./receiving.ts";
import type { HeldMessage } from "./settling.ts";
import { createSettling, settle } from "./settling.ts";
import { createStreaming } from "./streaming.ts";

/** Azure Service Bus, with Microsoft's SDK. */
export const serviceBusAdapter: Adapter<"servicebus"> = {
  check: checkNamespace,
  open,
  // To hand it back costs a delivery for certain; the SDK renews its lock while it waits.
  unstarted: "hold",
};

async function open({ contract, connection, concurrency, listener }: Opening<"servicebus">): Promise<Session> {
  const client = createClient(connection);
  try {
    // Receivers connect later and report by themselves, so this is what finds out whether there is anything to receive from.
    await client.createReceiver(contract.workQueue).peekMessages(1);
  } catch (error) {
    void client.close().catch(() => undefined);
    throw error;
  }
  const settling = createSettling(client, contract, createOnePerTurn());
  const held = new WeakMap<Delivery, HeldMessage>();
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
      // What comes while the connection is given up is nobody's, until its lock has run out.
      if (isGone) return;
      const delivery = readDelivery(contract, message);
      const originalId = originalIdOf(contract, message);
      held.set(delivery, { message, receiver, originalId, over, begun: null, lockedUntilMs: null });
      listener.delivered(delivery);
    });
  const create = contract.receive.sessions ? createAcceptingSessions : createStreaming;
  const receiving = create({ client, contract, concurrency, listener, received });
  return {
    resume: async () => receiving.resume(),
    pause: receiving.pause,
    settle: (delivery, operations, values) => {
      const message = held.get(delivery);
      if (message === undefined) throw new Error("the delivery is another session's");
      return new Promise((resolve, reject) => {
        unsettled.add(reject);
        const settled = settle(settling, message, operations as readonly Operation[], values);
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
