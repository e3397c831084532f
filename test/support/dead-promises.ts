import { type ChannelModel, type ConfirmChannel, type Options, connect } from "amqplib";

import { move } from "../../src/brokers/rabbitmq/operate/move.ts";
import { type Sender, createSender } from "../../src/brokers/rabbitmq/operate/send.ts";
import { connectModel } from "../../src/brokers/rabbitmq/operate/told.ts";
import type { DeadLetters } from "../../src/operate/port.ts";
import { deadQueue, fill, idsOf, makeFull, workQueue } from "./dead-stage.ts";
import { type DeployedSystem, until } from "./deployed-system.ts";

export type SenderOf = (url: string) => Sender;

/** The sender of a redrive. */
export const ownSender: SenderOf = (url) => createSender(() => connectModel({ url, managementUrl: undefined }));

type Publish = ConfirmChannel["publish"];

/** The same sender, on a channel that publishes in another way. */
const publishing =
  (change: (publish: Publish, channel: ConfirmChannel) => Publish): SenderOf =>
  (url) =>
    createSender(async () => {
      const model = await connectModel({ url, managementUrl: undefined });
      const createConfirmChannel = async (): Promise<ConfirmChannel> => {
        const channel = await model.createConfirmChannel();
        channel.publish = change(channel.publish.bind(channel), channel);
        return channel;
      };
      return Object.assign(Object.create(model) as ChannelModel, { createConfirmChannel });
    });

const withOptions = (more: Options.Publish): SenderOf =>
  publishing(
    (publish) => (exchange, key, content, options, done) =>
      publish(exchange, key, content, { ...options, ...more }, done),
  );

/** Senders that a person might write, and the promises that each breaks. */
export const mutatedSenders: readonly { readonly name: string; readonly sender: SenderOf; readonly breaks: object }[] =
  [
    {
      name: "the letter is acknowledged before the confirm",
      sender: publishing((publish) => (exchange, key, content, options, done) => {
        done?.(null, {} as never);
        return publish(exchange, key, content, options);
      }),
      breaks: { "lost where the queue is gone": 20, "lost where the queue is full": true },
    },
    {
      name: "the copy is not mandatory",
      sender: withOptions({ mandatory: false }),
      breaks: { "lost where the queue is gone": 20 },
    },
    {
      name: "the copy goes to the shared exchange",
      sender: publishing(
        (publish) => (_, key, content, options, done) =>
          // As its publishers do, for the work queue of this test alone.
          key === workQueue
            ? publish("shop.orders", "order.placed", content, options, done)
            : publish("", key, content, options, done),
      ),
      breaks: { "sent to other subscribers": 20 },
    },
    {
      name: "the copy keeps the records of its death",
      sender: (url) => {
        const sender = ownSender(url);
        return { ...sender, send: (letter, sending) => sender.send(letter, { ...sending, staysDead: true }) };
      },
      breaks: { "records of a death": 20 },
    },
    {
      name: "the copy keeps the expiration",
      sender: withOptions({ expiration: "3600000" }),
      breaks: { expirations: 20 },
    },
  ];

/** Moves letters, and counts each broken promise of a redrive. */
export async function brokenPromises(
  system: DeployedSystem & { readonly letters: DeadLetters },
  senderOf: SenderOf,
): Promise<object> {
  const { channel, url } = system;
  const model = await connect(url);
  const moved = async (queue: string): Promise<string | null> => {
    // Each pass has a sender of its own.
    const sender = senderOf(url);
    const decide = ({ position }: { readonly position: number }) => ({ queue, history: `h${position}` });
    try {
      return (await move(model, sender, { queue: deadQueue, answersGet: true }, { most: 20, perSecond: 50, decide }))
        .stopped;
    } finally {
      sender.close();
    }
  };
  const inOrder = (left: readonly string[], ids: readonly string[]): boolean =>
    left.join() === ids.filter((id) => left.includes(id)).join();
  const broken: Record<string, unknown> = {};
  try {
    const ids = await fill(system, deadQueue, 20, 1, { expiration: "3600000" });
    const stopped = await moved("nowhere");
    const here = idsOf(await system.drain(deadQueue));
    const gone = ids.length - here.length;
    if (gone > 0) broken["lost where the queue is gone"] = gone;
    else if (stopped !== "the queue nowhere is gone" || !inOrder(here, ids)) broken["where it is gone"] = stopped;

    await fill(system, deadQueue, 20, 1, { expiration: "3600000" });
    await makeFull(system);
    const refused = await moved("full");
    const taken = idsOf(await system.drain("full")).filter((id) => ids.includes(id));
    const kept = idsOf(await system.drain(deadQueue));
    if (taken.length + kept.length < ids.length) broken["lost where the queue is full"] = true;
    else if (refused !== "the queue full refuses letters" || [...taken, ...kept].join() !== ids.join())
      broken["where it is full"] = refused;

    await fill(system, deadQueue, 20, 1, { expiration: "3600000" });
    await moved(workQueue);
    await until(30_000, async () => (await channel.checkQueue(workQueue)).messageCount === 20);
    const sent = await system.drain(workQueue);
    const others = idsOf(await system.drain("shop.audit")).length;
    const dead = sent.filter(({ properties: { headers = {} } }) =>
      Object.keys(headers).some((name) => name.startsWith("dlq-")),
    );
    const expiring = sent.filter(({ properties }) => properties.expiration !== undefined);
    if (others > 0) broken["sent to other subscribers"] = others;
    if (dead.length > 0) broken["records of a death"] = dead.length;
    if (expiring.length > 0) broken["expirations"] = expiring.length;
  } finally {
    await model.close();
  }
  return broken;
}
