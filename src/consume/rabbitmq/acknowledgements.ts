import type { Channel, ConsumeMessage } from "amqplib";

/** Settles the deliveries of one channel, each once. */
export interface Acknowledgements {
  readonly delivered: (message: ConsumeMessage) => void;
  readonly ack: (message: ConsumeMessage) => void;
  /** `basic.nack` or `basic.reject`. */
  readonly refuse: (message: ConsumeMessage, operation: "basic.nack" | "basic.reject", requeue: boolean) => void;
  /** Sends what is due. */
  readonly flush: () => void;
  /** The channel is closed: nothing is sent any more, and the broker delivers again what it was not told of. */
  readonly discard: () => void;
}

/**
 * Acknowledgements that are due in one turn of the event loop go out together, as one frame with `multiple` wherever nothing older is
 * unsettled on the channel; a delivery that is still being handled is never covered. Source: AMQP 0-9-1, `basic.ack`: all messages up to and
 * including the tag. A channel that does not take a frame any more, be it that the socket has just ended, is reported as lost and nothing is
 * thrown: what is due is sent when no caller is there to catch it.
 */
export function createAcknowledgements(channel: Channel, lost: (cause: unknown) => void): Acknowledgements {
  /** In the order of their tags, since that is the order in which they are delivered. */
  const unsettled = new Map<number, ConsumeMessage>();
  const due = new Set<number>();
  let isScheduled = false;
  let isClosed = false;
  const discard = (): void => {
    isClosed = true;
    unsettled.clear();
    due.clear();
  };
  const send = (): void => {
    let newest: ConsumeMessage | null = null;
    for (const [tag, message] of unsettled) {
      if (!due.delete(tag)) break;
      unsettled.delete(tag);
      newest = message;
    }
    if (newest !== null) channel.ack(newest, true);
    for (const tag of due) {
      channel.ack(unsettled.get(tag) as ConsumeMessage);
      unsettled.delete(tag);
    }
    due.clear();
  };
  const flush = (): void => {
    isScheduled = false;
    try {
      if (due.size > 0) send();
    } catch (cause) {
      discard();
      lost(cause);
    }
  };
  const stillOpen = (): void => {
    if (isClosed) throw new Error("the channel is closed: the broker delivers the message again");
  };
  return {
    delivered: (message) => {
      unsettled.set(message.fields.deliveryTag, message);
    },
    ack: ({ fields }) => {
      stillOpen();
      if (!unsettled.has(fields.deliveryTag)) return;
      due.add(fields.deliveryTag);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    refuse: (message, operation, requeue) => {
      stillOpen();
      const tag = message.fields.deliveryTag;
      if (due.has(tag) || !unsettled.delete(tag)) return;
      if (operation === "basic.nack") channel.nack(message, false, requeue);
      else channel.reject(message, requeue);
    },
    flush,
    discard,
  };
}
