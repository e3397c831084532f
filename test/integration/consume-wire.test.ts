import amqplib from "amqplib";
import type { Channel, ConfirmChannel, ConsumeMessage } from "amqplib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { PublishOperation } from "../../src/index.ts";
import type { AmqpProxy } from "../support/consume/amqp-proxy.ts";
import { startAmqpProxy } from "../support/consume/amqp-proxy.ts";
import type { ConsumedSystem } from "../support/consume/consumed.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { judgeWire } from "../support/consume/judge-wire.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { deploy, sleep, until } from "../support/deployed-system.ts";
import { operationsOf } from "../support/drive.ts";
import { brokers } from "../support/live.ts";

type Ending = "success" | "transient" | "permanent" | "return";

const strategies = ["native", "staged", "waits"] as const;
const cases = brokers().flatMap((broker) =>
  strategies
    .filter((strategy) => strategy !== "native" || broker.version === "4.3")
    .map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
);

/** Long delays: nothing comes back while its first attempt is looked at. */
const declaration = {
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: "all" },
      retry: { attempts: 3, backoff: { kind: "constant", delay: "10m" } },
    },
  },
};
const source = { exchange: "shop.orders", routingKey: "order.placed" };
/** Long enough for a consumer that does not wait for the confirm to be seen not to wait. */
const confirmDelayMs = 60;

describe.each(cases)("the wire between consumer and broker: $name", ({ broker, strategy }) => {
  let system: DeployedSystem;
  let proxy: AmqpProxy;
  beforeAll(async () => {
    system = await deploy(broker, declaration, strategy);
    proxy = await startAmqpProxy(system.url);
    proxy.confirmDelayMs = confirmDelayMs;
  });
  afterAll(async () => {
    await proxy.close();
    await system.dispose();
  });

  const settlings = (): number =>
    proxy.frames.filter(({ kind }) => kind === "ack" || kind === "nack" || kind === "reject").length;

  /** Publishes one message, waits until it is settled, and gives what went by. */
  async function observe(ending: Ending, options: object = {}): Promise<string | null> {
    proxy.frames.length = 0;
    system.channel.publish(source.exchange, source.routingKey, Buffer.from('"x"'), {
      messageId: ending,
      persistent: true,
      ...options,
    });
    await system.channel.waitForConfirms();
    await until(20_000, () => settlings() > 0);
    // A confirm that was not waited for, or an operation too many, comes after.
    await sleep(2 * confirmDelayMs);
    return judgeWire(system.contract("billing"), ending, 1, proxy.frames);
  }

  test("is exactly what the contract says, for each outcome", async () => {
    const billing = await consumeFrom(
      { ...system, url: proxy.url },
      { broker, declaration, consumer: "billing", strategy },
      ({ id }) => {
        if (id === "transient") throw new Error("again");
        if (id === "permanent") throw permanent("NEVER");
      },
    );
    for (const ending of ["success", "transient", "permanent"] as const) {
      expect(await observe(ending), ending).toBeNull();
      // An expiration of the message's own would delete the copy in the dead queue, or make its attempt early.
      expect(await observe(ending, { expiration: "600000" }), `${ending} with an expiration`).toBeNull();
    }
    await billing.running.stop();
  });

  test("and for a message whose handler does not end before the consumer stops", async () => {
    let billing: ConsumedSystem | null = null;
    billing = await consumeFrom(
      { ...system, url: proxy.url },
      { broker, declaration, consumer: "billing", strategy },
      () => sleep(60_000),
    );
    proxy.frames.length = 0;
    await system.publish(["return"], source);
    await until(20_000, () => billing.runs.length === 1);
    await billing.running.stop("50ms");
    expect(judgeWire(system.contract("billing"), "return", 1, proxy.frames)).toBeNull();
    expect((await system.drain("shop.billing")).map((each) => each.properties.messageId)).toEqual(["return"]);
  });

  test.for(mistakes.map((mistake) => ({ ...mistake })))(
    "a consumer is caught that $name",
    async ({ ending, handle }) => {
      const operations = operationsOf(system.contract("billing").outcomes[ending], 1);
      const copy = operations.find((each): each is PublishOperation => each.operation === "basic.publish");
      const connection = await amqplib.connect(proxy.url);
      try {
        const channel = await connection.createChannel();
        const publisher = await connection.createConfirmChannel();
        await channel.prefetch(1);
        let isFirst = true;
        await channel.consume("shop.billing", (message) => {
          if (message === null || !isFirst) return;
          isFirst = false;
          handle({ channel, publisher, message, copy: copy ?? null });
        });
        expect(await observe(ending)).not.toBeNull();
      } finally {
        await connection.close();
        await system.drain("shop.billing");
      }
    },
  );
});

interface Handling {
  readonly channel: Channel;
  readonly publisher: ConfirmChannel;
  readonly message: ConsumeMessage;
  readonly copy: PublishOperation | null;
}

/** What a person gets wrong by hand. Where the contract has no copy, that one is published is the mistake. */
const mistakes: readonly {
  readonly name: string;
  readonly ending: Ending;
  readonly handle: (handling: Handling) => void;
}[] = [
  {
    name: "requeues a failure with basic.nack",
    ending: "transient",
    handle: ({ channel, message }) => channel.nack(message, false, true),
  },
  { name: "acknowledges a failure", ending: "transient", handle: ({ channel, message }) => channel.ack(message) },
  {
    name: "settles what is older along with it",
    ending: "transient",
    handle: ({ channel, message }) => channel.nack(message, true, false),
  },
  {
    name: "acknowledges before the copy is confirmed",
    ending: "permanent",
    handle: ({ channel, publisher, message, copy }) => {
      publish(publisher, message, copy, { mandatory: true });
      channel.ack(message);
    },
  },
  {
    name: "publishes the copy without mandatory",
    ending: "permanent",
    handle: ({ channel, publisher, message, copy }) =>
      publish(publisher, message, copy, { mandatory: false }, () => channel.ack(message)),
  },
  {
    name: "leaves an expiration on the copy",
    ending: "permanent",
    handle: ({ channel, publisher, message, copy }) =>
      publish(publisher, message, copy, { mandatory: true, expiration: "60000" }, () => channel.ack(message)),
  },
  {
    name: "rejects what no retry can help, as if it could be retried",
    ending: "permanent",
    handle: ({ channel, message }) => channel.reject(message, true),
  },
  {
    name: "rejects what went well",
    ending: "success",
    handle: ({ channel, message }) => channel.nack(message, false, false),
  },
];

function publish(
  publisher: ConfirmChannel,
  message: ConsumeMessage,
  copy: PublishOperation | null,
  options: object,
  confirmed?: () => void,
): void {
  const [exchange, routingKey] = [copy?.exchange ?? "", copy?.routingKey ?? "nobody"];
  publisher.publish(exchange, routingKey, message.content, { messageId: "copy", ...options }, () => confirmed?.());
}
