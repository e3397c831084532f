import type { ServiceBusReceivedMessage } from "@azure/service-bus";

import type { SessionListener } from "../adapter.ts";
import { atMost } from "../long-timer.ts";
import { answerWithinMs } from "./client.ts";
import type { Receiving, ReceivingInput } from "./receiving.ts";
import { asSent } from "./receiving.ts";

/** As many deliveries as rhea keeps of one link, nearly. Source: rhea 3.0.5, lib/session.js, which throws beyond 2 048. */
const mostOfOneLink = 2_000;

/** A time of taking messages, from `resume` to `pause`. */
interface Round {
  /** How each of its receivers is told to take no more, and how to close them. */
  readonly streams: { readonly pause: () => Promise<void>; readonly close: () => Promise<void> }[];
  /** How many messages are asked for at a time: those in our hands, and those that may come. */
  size: number;
  held: number;
  isOver: boolean;
  /** Called when a message has come, or when the round is over. */
  wake: () => void;
}

/**
 * Takes messages of a queue or subscription without sessions, as many as handlers could begin. A receiver of the SDK asks for one more message when
 * the one before is done with; how many it has at a time cannot be changed, so another one joins it when more handlers are free.
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
    const missing = Math.min(concurrency - round.size, missingOf(listener, round), mostOfOneLink);
    if (round.isOver) return;
    if (missing > 0) addStream(input, round, missing);
    else
      await new Promise<void>((resolve) => {
        round.wake = resolve;
      });
  }
}

/** Handlers that could begin, but for the messages that are asked for already. */
function missingOf(listener: SessionListener, { size, held }: Round): number {
  return listener.free() - (size - held);
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

/** What messages come by, below the SDK: a receiver of rhea. */
interface Link {
  readonly credit: number;
  readonly is_open: () => boolean;
  readonly drain_credit: () => void;
  readonly once: (event: "receiver_drained" | "receiver_close", listener: () => void) => void;
}

/** Null where a later SDK does not show it. */
function linkOf(message: ServiceBusReceivedMessage): Link | null {
  return (message as { readonly delivery?: { readonly link?: Link } }).delivery?.link ?? null;
}

/**
 * Resolves when Service Bus has said that nothing more comes. The SDK gives it 200 ms for that, and closes the link then: whatever is in our hands is
 * settled by its management link from there on, which cannot release a message, and an abandon counts. Source: 7.9.5, `ReceiverHelper.drain` and
 * `settleMessageOperation`.
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

/** Messages are settled through the receivers that they came by, so these are closed when the last one is. */
async function closeIdle({ streams, held }: Round): Promise<void> {
  if (held > 0) return;
  // The connection may have gone meanwhile, and all receivers with it.
  await Promise.all(streams.splice(0).map(({ close }) => close().catch(() => undefined)));
}
