import type { Channel } from "amqplib";
import { setTimeout } from "node:timers/promises";

/**
 * The most settlements that a channel of the broker passes on to a quorum queue before the queue has handled them. The
 * channel keeps all others to itself, and forgets them when it ends, even if it is closed in order.
 * Source: `quorum_commands_soft_limit`, and `settle/3` in `rabbit_fifo_client.erl`.
 */
export const mostPassedOn = 32;

/**
 * The broker asks the leader of a quorum queue for its counts. If it has no answer within this time, it says that nothing
 * is there. Source: `rabbit_quorum_queue:stat/1`.
 */
export const leaderAnswersWithinMs = 250;
const askEveryMs = 100;
/** So many quick answers in a row show that the queue is not busy. */
const quickAnswers = 3;

/**
 * Resolves when a channel has passed on all its settlements. An empty queue shows it: its answer to `basic.get` comes
 * after the settlements before. If messages are ready, a get would take one, and up to 4.2 that counts as a delivery.
 * Then this waits until the queue is no longer busy, which is likely to be enough.
 *
 * @param answersGet false for a queue with a single active consumer, which refuses a get
 * @throws an error as soon as the channel is closed
 */
export async function passedOn(channel: Channel, queue: string, answersGet: boolean): Promise<void> {
  for (let quick = 0; quick < quickAnswers;) {
    const askedAtMs = performance.now();
    const { messageCount } = await channel.checkQueue(queue);
    const isQuick = performance.now() - askedAtMs < leaderAnswersWithinMs;
    if (isQuick && messageCount === 0 && answersGet) {
      const late = await channel.get(queue);
      if (late !== false) channel.nack(late, false, true);
      return;
    }
    quick = isQuick ? quick + 1 : 0;
    await setTimeout(askEveryMs);
  }
}
