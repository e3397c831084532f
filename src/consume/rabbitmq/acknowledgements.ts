import type { Channel, ConsumeMessage } from "amqplib";

/** Settles the deliveries of one channel, each once. */
export interface Acknowledgements {
  readonly delivered: (message: ConsumeMessage) => void;
  readonly ack: (message: ConsumeMessage) => void;
  /** `basic.nack` or `basic.reject`. */
  readonly refuse: (message: ConsumeMessage, operation: "basic.nack" | "basic.reject", requeue: boolean) => void;
  /** Sends what is due. */
  readonly flush: () => void;
}

/**
 * Acknowledgements that are due in one turn of the event loop go out together, as one frame with `multiple` wherever nothing older is
 * unsettled on the channel; a delivery that is still being handled is never covered. Source: AMQP 0-9-1, `basic.ack`: all messages up to and
 * including the tag.
 */
export function createAcknowledgements(channel: Channel): Acknowledgements {
  /** In the order of their tags, since that is the order in which they are delivered. */
  const unsettled = new Map<number, ConsumeMessage>();
  const due = new Set<number>();
  let isScheduled = false;
  const flush = (): void => {
    isScheduled = false;
    if (due.size === 0) return;
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
  return {
    delivered: (message) => {
      unsettled.set(message.fields.deliveryTag, message);
    },
    ack: ({ fields }) => {
      if (!unsettled.has(fields.deliveryTag)) return;
      due.add(fields.deliveryTag);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    refuse: (message, operation, requeue) => {
      const tag = message.fields.deliveryTag;
      if (due.has(tag) || !unsettled.delete(tag)) return;
      if (operation === "basic.nack") channel.nack(message, false, requeue);
      else channel.reject(message, requeue);
    },
    flush,
  };
}
