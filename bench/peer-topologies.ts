import amqplib from "amqplib";
import type { Channel, ConfirmChannel, ConsumeMessage, Options } from "amqplib";

// Three ways in which people write retries by hand. Each declares its own topology in its own virtual host.

/** The work that all contenders of the benchmark do. */
export interface Work {
  readonly attempts: number;
  readonly delayMs: number;
  readonly concurrency: number;
  /** Handles the message with this id. False says that the attempt failed. */
  readonly handle: (id: number) => boolean;
}

export interface HandWritten {
  /** Producers send to this exchange, with this key. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly deadQueue: string;
  readonly declare: (channel: Channel, work: Work) => Promise<void>;
  /** Starts consuming; returns the way to stop. */
  readonly start: (url: string, work: Work) => Promise<() => Promise<void>>;
}

const quorum = { "x-queue-type": "quorum" };
const attemptOf = (message: ConsumeMessage): number => Number(message.properties.headers?.["attempt"] ?? 1);

/** Publishes to a queue or exchange, and resolves after the confirm. */
function publish(
  channel: ConfirmChannel,
  exchange: string,
  routingKey: string,
  message: ConsumeMessage,
  more: Options.Publish,
): Promise<void> {
  const { messageId, headers } = message.properties;
  const options = { messageId: String(messageId), headers, persistent: true, mandatory: true, ...more };
  return new Promise((resolve, reject) => {
    channel.publish(exchange, routingKey, message.content, options, (error: unknown) =>
      error === null ? resolve() : reject(error as Error),
    );
  });
}

/** Consumes `work`, and leaves a failed attempt to `fail`. */
async function consumeWork(
  url: string,
  work: Work,
  fail: (message: ConsumeMessage, channel: Channel, publisher: ConfirmChannel) => Promise<void>,
): Promise<() => Promise<void>> {
  const connection = await amqplib.connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const publisher = await connection.createConfirmChannel();
  await channel.prefetch(work.concurrency);
  await channel.consume("work", (message) => {
    if (message === null) return;
    if (work.handle(Number(message.properties.messageId))) channel.ack(message);
    else void fail(message, channel, publisher);
  });
  return async () => {
    await channel.close();
    await connection.close();
  };
}

/** A copy into a queue with a time to live. It is the simplest way that loses nothing. */
const copy: HandWritten = {
  exchange: "",
  routingKey: "work",
  deadQueue: "dead",
  declare: async (channel, { delayMs }) => {
    await channel.assertQueue("work", { arguments: quorum });
    await channel.assertQueue("dead", { arguments: quorum });
    const back = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work" };
    await channel.assertQueue("wait", { arguments: { ...quorum, ...back, "x-message-ttl": delayMs } });
  },
  start: (url, work) =>
    consumeWork(url, work, async (message, channel, publisher) => {
      const attempt = attemptOf(message);
      const target = attempt < work.attempts ? "wait" : "dead";
      await publish(publisher, "", target, message, { headers: { attempt: attempt + 1 } });
      channel.ack(message);
    }),
};

/**
 * The topology of many tutorials: a classic queue with a time to live behind a dead-letter exchange. The broker moves
 * messages without confirms there, so a crash of the broker can lose them.
 */
const tutorial: HandWritten = {
  exchange: "",
  routingKey: "work",
  deadQueue: "dead",
  declare: async (channel, { delayMs }) => {
    await channel.assertExchange("dlx", "fanout");
    const back = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work" };
    await channel.assertQueue("work", { arguments: { "x-dead-letter-exchange": "dlx" } });
    await channel.assertQueue("dead");
    await channel.assertQueue("wait", { arguments: { ...back, "x-message-ttl": delayMs } });
    await channel.bindQueue("wait", "dlx", "");
  },
  start: (url, work) =>
    consumeWork(url, work, async (message, channel, publisher) => {
      const deaths = message.properties.headers?.["x-death"]?.find(({ queue }) => queue === "work")?.count ?? 0;
      if (deaths + 1 < work.attempts) return channel.nack(message, false, false);
      await publish(publisher, "", "dead", message, {});
      channel.ack(message);
    }),
};

const levels = 28;

/**
 * Binary delay levels as NServiceBus has them: 28 queues whose times to live double. A key of bits chooses the levels,
 * and its last word is the queue to return to. Source: Particular/NServiceBus.RabbitMQ, `DelayInfrastructure.cs`.
 */
const delayLevels: HandWritten = {
  exchange: "",
  routingKey: "work",
  deadQueue: "dead",
  declare: async (channel) => {
    await channel.assertQueue("work", { arguments: quorum });
    await channel.assertQueue("dead", { arguments: quorum });
    const name = (level: number): string => (level < 0 ? "delivery" : `level.${level}`);
    await channel.assertExchange("delivery", "topic");
    await channel.bindQueue("work", "delivery", "#.work");
    for (let level = 0; level < levels; level++) {
      const strategy = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
      const next = { "x-dead-letter-exchange": name(level - 1), "x-message-ttl": 2 ** level * 1_000 };
      await channel.assertExchange(name(level), "topic");
      await channel.assertQueue(name(level), { arguments: { ...quorum, ...strategy, ...next } });
    }
    for (let level = 0; level < levels; level++) {
      const skipped = "*.".repeat(levels - 1 - level);
      await channel.bindQueue(name(level), name(level), `${skipped}1.#`);
      await channel.bindExchange(name(level - 1), name(level), `${skipped}0.#`);
    }
  },
  start: (url, work) =>
    consumeWork(url, work, async (message, channel, publisher) => {
      const attempt = attemptOf(message);
      const headers = { headers: { attempt: attempt + 1 } };
      const seconds = work.delayMs / 1_000;
      const bits = [...seconds.toString(2).padStart(levels, "0")].join(".");
      if (attempt === work.attempts) await publish(publisher, "", "dead", message, headers);
      else await publish(publisher, `level.${Math.floor(Math.log2(seconds))}`, `${bits}.work`, message, headers);
      channel.ack(message);
    }),
};

export const handWritten: Readonly<Record<string, HandWritten>> = {
  "copy + confirm": copy,
  "tutorial (unsafe)": tutorial,
  "delay levels": delayLevels,
};
