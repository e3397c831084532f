import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import { atMost } from "../../../consume/port/long-timer.ts";
import { answerWithinMs } from "./client.ts";
import { type Receiving, type ReceivingInput, asSent } from "./receiving.ts";

/**
 * Nearly as many deliveries as rhea keeps for one link. Source: rhea 3.0.5, lib/session.js, which throws beyond 2 048.
 */
const mostOfOneLink = 2_000;

/** The time from `resume` to `pause`. */
interface Round {
  /** For each of its receivers, functions that pause and close it. */
  readonly streams: { readonly pause: () => Promise<void>; readonly close: () => Promise<void> }[];
  /** The number of messages to ask for at a time: those in our hands, and those that may come. */
  size: number;
  held: number;
  isOver: boolean;
  /** Called when a message has come, or when the round is over. */
  wake: () => void;
}

/**
 * Takes messages of a queue or subscription without sessions, as many as handlers could begin. A receiver of the SDK
 * asks for one more message after each settlement, and its number at a time is fixed. So another receiver joins it when
 * more handlers are free.
 */
export function createStreaming(input: ReceivingInput): Receiving {
  let round: Round | null = null;
  const endRound = (): Round | null => {
    const ending = round;
    round = null;
    if (ending === null) return null;
    ending.isOver = true;
    ending.wake();
    return ending;
  };
  return {
    resume: () => {
      if (round !== null) return;
      round = { streams: [], size: 0, held: 0, isOver: false, wake: () => undefined };
      grow(input, round).catch(input.listener.lost);
    },
    pause: async () => {
      const ending = endRound();
      if (ending === null) return;
      await Promise.all(ending.streams.map(({ pause }) => pause()));
      await closeIdle(ending);
    },
    end: () => void endRound(),
  };
}

async function grow(input: ReceivingInput, round: Round): Promise<void> {
  const { listener, concurrency } = input;
  while (!round.isOver && round.size < concurrency) {
    await listener.whenFree();
    // The handlers that could begin, less the messages that are already requested.
    const missing = Math.min(concurrency - round.size, listener.free() - (round.size - round.held), mostOfOneLink);
    if (round.isOver) return;
    if (missing > 0) addStream(input, round, missing);
    else
      await new Promise<void>((resolve) => {
        round.wake = resolve;
      });
  }
}

function addStream({ client, contract, listener, received }: ReceivingInput, round: Round, size: number): void {
  const { mode, lockRenewalMs } = contract.receive;
  const receiver = client.createReceiver(contract.workQueue, {
    receiveMode: mode,
    maxAutoLockRenewalDurationInMs: lockRenewalMs,
    ...asSent,
  });
  let link: Link | null = null;
  const subscription = receiver.subscribe(
    {
      processMessage: async (message) => {
        link = linkOf(message);
        round.held += 1;
        round.wake();
        await received(receiver, message);
        round.held -= 1;
        if (round.isOver) void closeIdle(round);
      },
      processError: async ({ error, errorSource }) => {
        if (errorSource === "receive") listener.lost(error);
      },
    },
    { autoCompleteMessages: false, maxConcurrentCalls: size },
  );
  round.size += size;
  const pause = async (): Promise<void> => {
    if (link !== null) await takeCreditBack(link);
    await subscription.close();
  };
  round.streams.push({ pause, close: () => receiver.close() });
}

/** rhea's receiver, below the SDK, that messages come through. */
interface Link {
  readonly credit: number;
  readonly is_open: () => boolean;
  readonly drain_credit: () => void;
  readonly once: (event: "receiver_drained" | "receiver_close", listener: () => void) => void;
}

/** Null if a later SDK does not show it. */
function linkOf(message: ServiceBusReceivedMessage): Link | null {
  return (message as { readonly delivery?: { readonly link?: Link } }).delivery?.link ?? null;
}

/**
 * Resolves when Service Bus has confirmed that no more messages come. The SDK allows 200 ms for that and then closes
 * the link. From then on it settles our messages through the management link. That link cannot release a message, and
 * its abandon counts. Source: 7.9.5, `ReceiverHelper.drain` and `settleMessageOperation`.
 */
async function takeCreditBack(link: Link): Promise<void> {
  if (!link.is_open() || link.credit === 0) return;
  const over = new Promise<void>((resolve) => {
    link.once("receiver_drained", resolve);
    link.once("receiver_close", resolve);
  });
  link.drain_credit();
  await atMost(answerWithinMs, over);
}

/** Messages are settled through their own receivers, so these close after the last settlement. */
async function closeIdle({ streams, held }: Round): Promise<void> {
  if (held > 0) return;
  // The connection may have gone in the meantime, and all receivers with it.
  await Promise.all(streams.splice(0).map(({ close }) => close().catch(() => undefined)));
}
