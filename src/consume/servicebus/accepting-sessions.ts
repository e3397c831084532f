import type { ServiceBusSessionReceiver } from "@azure/service-bus";

import { codeOf } from "./client.ts";
import type { Receiving, ReceivingInput } from "./receiving.ts";
import { asSent } from "./receiving.ts";

/** How long a session without messages is kept before another one is accepted. */
const idleMs = 1_000;

interface Workers {
  readonly input: ReceivingInput;
  isTaking: boolean;
  /** Messages that are asked for and have not come. */
  asked: number;
  /** Called when one of them has come or will not come, and when taking begins or ends. */
  watchers: (() => void)[];
}

/**
 * Takes messages of a queue or subscription with sessions: as many sessions at a time as handlers may run, and of each one message after the other,
 * the next one when the one before is settled, so that the order is that of the session.
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

/** @returns null where no session has messages that nobody takes */
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
 * What the SDK says where the link that waited for a session was refused while the process was busy: it has not kept the reason. The connection is as
 * good as before. Source: 7.9.5, `MessageSession._init`.
 */
function isLateRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes("failed to create receiver but without an error");
}

async function takeAll(workers: Workers, receiver: ServiceBusSessionReceiver): Promise<void> {
  while (await mayAsk(workers)) {
    const [message] = await ask(workers, receiver);
    if (message === undefined) return;
    // Its session is given up with it: whatever comes next of the session would overtake it.
    if ((await workers.input.received(receiver, message)) === "not-ours") return;
  }
}

/** Waits until a handler could begin for which nobody has asked yet. @returns false where nothing is taken any more */
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
    // The session is somebody else's now: another one is accepted.
    if (codeOf(error) === "SessionLockLost") return [];
    throw error;
  } finally {
    workers.asked -= 1;
    wake(workers);
  }
}
