import type { Channel, ChannelModel } from "amqplib";
import type { Connection } from "rhea";

import { inTime } from "../../../../consume/port/long-timer.ts";
import { askManagementNode } from "./management-node.ts";

/** The time between checks, and the time limit for a queue's answer. */
const everyMs = 3_000;
/** The consumer asks the queue after this time without messages. */
const quietMs = 6_000;
/** The longest turn of the event loop in a process that is not busy. */
const turnMs = 500;
/** More bytes than heartbeats and an answer of the queue take. */
const answerBytes = 4_096;
/** After this many signs in a row, the consumer leaves the node. */
const enough = 2;

/** A queue's own report: its consumers, and its messages that are due and not in hand. */
interface Counts {
  readonly messageCount: number;
  readonly consumerCount: number;
}

/** The input to the watching. */
interface Watched {
  readonly queue: string;
  readonly ask: () => Promise<Counts>;
  /** The time for which the queue could have given messages and gave none. */
  readonly hungryMs: () => number;
  /** The number of bytes that the connection has read so far. */
  readonly bytesRead: () => number;
}

/**
 * Notices a node that is cut off from the others. It still answers its clients, but its quorum queues give nothing. A
 * queue with its leader elsewhere reports no consumers and no messages. A queue that believes itself the leader reports
 * both, and can give nothing more. A sound queue without messages for us reports consumers and no messages. Measured on
 * 4.0.5 and 4.3.6, with a partition.
 *
 * @param cutOff called once
 * @returns a function that ends the watching
 */
export function watchForCut(
  { queue, ask, hungryMs, bytesRead }: Watched,
  cutOff: (cause: unknown) => void,
): () => void {
  let isAsking = false;
  let signs = 0;
  let read = bytesRead();
  const isSigned = async (): Promise<boolean> => {
    const { messageCount, consumerCount } = await ask();
    return consumerCount === 0 || messageCount > 0;
  };
  const look = async (): Promise<void> => {
    const before = read;
    read = bytesRead();
    // A long message may be on its way.
    if (hungryMs() < quietMs || read - before > answerBytes) {
      signs = 0;
      return;
    }
    const askedAtMs = performance.now();
    // A refusal is no sign of a cut.
    const isSign = await inTime(everyMs, isSigned(), () => new LateError(), null).catch(
      // A busy process shows nothing, because Node reads arrived bytes after its timers.
      (cause) => cause instanceof LateError && performance.now() - askedAtMs < everyMs + turnMs,
    );
    signs = isSign && hungryMs() >= quietMs ? signs + 1 : 0;
    if (signs < enough) return;
    clearInterval(timer);
    cutOff(
      new Error(
        `the queue ${queue} has messages and gives none by this node, which seems to be cut off from the others`,
      ),
    );
  };
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void look().finally(() => {
      isAsking = false;
    });
  }, everyMs);
  return () => clearInterval(timer);
}

class LateError extends Error {}

/** Asks by AMQP 0-9-1, on a separate channel. */
export function askByChannel(connection: ChannelModel, queue: string): Watched["ask"] {
  let channel: Channel | null = null;
  return async () => {
    if (channel === null) {
      const opened = await connection.createChannel();
      opened.on("error", () => undefined);
      opened.on("close", () => {
        channel = null;
      });
      channel = opened;
    }
    return channel.checkQueue(queue);
  };
}

export function askByManagementNode(connection: Connection, queue: string): Watched["ask"] {
  const request = { method: "GET", path: `/queues/${encodeURIComponent(queue)}`, body: null } as const;
  return async () => {
    const { status, body } = await askManagementNode(connection, request);
    const { message_count: messageCount, consumer_count: consumerCount } = body as Readonly<Record<string, unknown>>;
    if (status !== "200") throw new Error("the broker does not show the queue");
    return { messageCount: Number(messageCount), consumerCount: Number(consumerCount) };
  };
}
