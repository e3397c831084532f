import type { Channel, ConsumeMessage } from "amqplib";

/** Settles the deliveries of one channel, each once. */
export type Acknowledgements = ReturnType<typeof createAcknowledgements>;

/**
 * Acknowledgements of one turn of the event loop go out together. They form one frame with `multiple` if nothing older
 * is unsettled on the channel. A delivery that is still being handled is never covered. Source: AMQP 0-9-1,
 * `basic.ack`: all messages up to and including the tag. If a channel accepts no more frames, perhaps because the
 * socket has just ended, this reports it as lost. It throws nothing, because no caller would catch an error at the time
 * of sending.
 *
 * @param settled hears of each delivery once, when its outcome is on its way
 */
export function createAcknowledgements(
  channel: Channel,
  lost: (cause: unknown) => void,
  settled: (message: ConsumeMessage) => void = () => undefined,
) {
  /** In the order of their tags, which is the order of delivery. */
  const unsettled = new Map<number, ConsumeMessage>();
  const due = new Set<number>();
  let commands = 0;
  let isScheduled = false;
  let isClosed = false;
  const discard = (): void => {
    isClosed = true;
    unsettled.clear();
    due.clear();
  };
  const flush = (): void => {
    isScheduled = false;
    try {
      commands += sendDue(channel, unsettled, due);
    } catch (cause) {
      discard();
      lost(cause);
    }
  };
  const stillOpen = (): void => {
    if (isClosed) throw new Error("the channel is closed: the broker delivers the message again");
  };
  return {
    delivered: (message: ConsumeMessage) => {
      unsettled.set(message.fields.deliveryTag, message);
    },
    ack: (message: ConsumeMessage) => {
      stillOpen();
      const tag = message.fields.deliveryTag;
      if (due.has(tag) || !unsettled.has(tag)) return;
      due.add(tag);
      settled(message);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    /** `basic.nack` or `basic.reject`. */
    refuse: (message: ConsumeMessage, operation: "basic.nack" | "basic.reject", requeue: boolean) => {
      stillOpen();
      const tag = message.fields.deliveryTag;
      if (due.has(tag) || !unsettled.delete(tag)) return;
      if (operation === "basic.nack") channel.nack(message, false, requeue);
      else channel.reject(message, requeue);
      commands += 1;
      settled(message);
    },
    /** The number of settlements so far, as the queue gets them: those of one frame and one consumer are one. */
    commands: () => commands,
    /** Sends all pending acknowledgements. */
    flush,
    /** The channel is closed: it sends nothing more, and the broker delivers every unsettled message again. */
    discard,
  };
}

/**
 * Acknowledges all that is due.
 *
 * @returns the number of settlements that the queue gets. Source: `foreach_per_queue` in `rabbit_channel.erl`
 */
function sendDue(channel: Channel, unsettled: Map<number, ConsumeMessage>, due: Set<number>): number {
  let newest: ConsumeMessage | null = null;
  const consumers = new Set<unknown>();
  for (const [tag, message] of unsettled) {
    if (!due.delete(tag)) break;
    unsettled.delete(tag);
    consumers.add(message.fields.consumerTag);
    newest = message;
  }
  if (newest !== null) channel.ack(newest, true);
  const commands = due.size + consumers.size;
  for (const tag of due) {
    channel.ack(unsettled.get(tag) as ConsumeMessage);
    unsettled.delete(tag);
  }
  due.clear();
  return commands;
}
