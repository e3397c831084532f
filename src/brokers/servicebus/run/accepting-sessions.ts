import type { ServiceBusSessionReceiver } from "@azure/service-bus";

import { codeOf } from "./client.ts";
import { type Receiving, type ReceivingInput, asSent } from "./receiving.ts";

/** The time for which an empty session is kept before the next one is accepted. */
const idleMs = 1_000;

interface Workers {
  readonly input: ReceivingInput;
  isTaking: boolean;
  /** The number of requested messages that have not come. */
  asked: number;
  /** Called when a requested message comes or will not come, and when taking begins or ends. */
  watchers: (() => void)[];
}

/**
 * Takes messages of a queue or subscription with sessions. It holds as many sessions as there are handlers. Each
 * session gives one message after the other, the next after the settlement of the one before. So the session keeps its
 * order.
 */
export function createAcceptingSessions(input: ReceivingInput): Receiving {
  const workers: Workers = { input, isTaking: false, asked: 0, watchers: [] };
  let isBegun = false;
  return {
    resume: () => {
      workers.isTaking = true;
      wake(workers);
      if (isBegun) return;
      isBegun = true;
      for (let count = 0; count < input.concurrency; count += 1) void work(workers);
    },
    pause: async () => {
      workers.isTaking = false;
      wake(workers);
      while (workers.asked > 0) await changed(workers);
    },
    end: () => {
      workers.isTaking = false;
      wake(workers);
    },
  };
}

function wake(workers: Workers): void {
  const { watchers } = workers;
  workers.watchers = [];
  for (const each of watchers) each();
}

function changed(workers: Workers): Promise<void> {
  return new Promise((resolve) => workers.watchers.push(resolve));
}

/** Accepts one session after the other, until the connection is gone. */
async function work(workers: Workers): Promise<void> {
  try {
    for (;;) {
      while (!workers.isTaking) await changed(workers);
      const receiver = await accept(workers.input);
      if (receiver !== null) await takeAll(workers, receiver).finally(() => receiver.close());
    }
  } catch (error) {
    workers.input.listener.lost(error);
  }
}

/** @returns null if every session with messages is already held */
async function accept({ client, contract }: ReceivingInput): Promise<ServiceBusSessionReceiver | null> {
  const { mode, lockRenewalMs } = contract.receive;
  try {
    return await client.acceptNextSession(contract.workQueue, {
      receiveMode: mode,
      maxAutoLockRenewalDurationInMs: lockRenewalMs,
      ...asSent,
    });
  } catch (error) {
    if (["ServiceTimeout", "SessionCannotBeLocked"].includes(codeOf(error) ?? "") || isLateRefusal(error)) return null;
    throw error;
  }
}

/**
 * The SDK's error if Service Bus refused the waiting link while the process was busy: the SDK has not kept the reason.
 * The connection is still good. Source: 7.9.5, `MessageSession._init`.
 */
function isLateRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes("failed to create receiver but without an error");
}

async function takeAll(workers: Workers, receiver: ServiceBusSessionReceiver): Promise<void> {
  while (await mayAsk(workers)) {
    const [message] = await ask(workers, receiver);
    if (message === undefined) return;
    // The session is given up with the message, because the session's next message would overtake it.
    if ((await workers.input.received(receiver, message)) === "not-ours") return;
  }
}

/** Waits for a free handler that no other worker has asked for. @returns false once taking has ended */
async function mayAsk(workers: Workers): Promise<boolean> {
  const { listener } = workers.input;
  while (workers.isTaking) {
    const free = listener.free();
    if (free > workers.asked) return true;
    await (free > 0 ? changed(workers) : Promise.race([changed(workers), listener.whenFree()]));
  }
  return false;
}

async function ask(
  workers: Workers,
  receiver: ServiceBusSessionReceiver,
): ReturnType<ServiceBusSessionReceiver["receiveMessages"]> {
  workers.asked += 1;
  try {
    return await receiver.receiveMessages(1, { maxWaitTimeInMs: idleMs });
  } catch (error) {
    // Another consumer now holds the session, so this worker accepts the next one.
    if (codeOf(error) === "SessionLockLost") return [];
    throw error;
  } finally {
    workers.asked -= 1;
    wake(workers);
  }
}
