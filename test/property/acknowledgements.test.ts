import type { Channel, ConsumeMessage } from "amqplib";
import fc from "fast-check";
import { expect, test } from "vitest";

import { createAcknowledgements } from "../../src/brokers/rabbitmq/run/amqp-0-9-1/acknowledgements.ts";
import { forAll } from "../support/for-all.ts";

type Fate = "ack" | "nack" | "reject" | "never";

/** A broker's reading of the frames: the fate of each delivery. A frame about a settled delivery closes the channel. */
function brokerChannel(tags: readonly number[]): { channel: Channel; fates: Map<number, Fate>; frames: () => number } {
  const open = new Set(tags);
  const fates = new Map<number, Fate>();
  let frames = 0;
  const close = (tag: number, fate: Fate): void => {
    frames += 1;
    if (!open.delete(tag)) throw new Error(`PRECONDITION_FAILED - unknown delivery tag ${tag}`);
    fates.set(tag, fate);
  };
  const channel = {
    ack: ({ fields }: ConsumeMessage, multiple = false) => {
      const older = multiple ? [...open].filter((tag) => tag < fields.deliveryTag) : [];
      for (const tag of older) {
        open.delete(tag);
        fates.set(tag, "ack");
      }
      close(fields.deliveryTag, "ack");
    },
    nack: ({ fields }: ConsumeMessage) => close(fields.deliveryTag, "nack"),
    reject: ({ fields }: ConsumeMessage) => close(fields.deliveryTag, "reject"),
  };
  return { channel: channel as unknown as Channel, fates, frames: () => frames };
}

const unexpected = (cause: unknown): never => {
  throw cause;
};

const message = (deliveryTag: number): ConsumeMessage => ({ fields: { deliveryTag } }) as ConsumeMessage;

test("each requested delivery is settled once, and no other", () => {
  const fate = fc.constantFrom<Fate>("ack", "ack", "ack", "nack", "reject", "never");
  forAll(
    2_000,
    [fc.array(fc.record({ fate, order: fc.nat(), flush: fc.boolean(), twice: fc.boolean() }), { maxLength: 60 })],
    (deliveries) => {
      const tags = deliveries.map((_, index) => index + 1);
      const { channel, fates } = brokerChannel(tags);
      const acknowledgements = createAcknowledgements(channel, unexpected);
      for (const tag of tags) acknowledgements.delivered(message(tag));
      const steps = deliveries
        .map((each, index) => ({ ...each, tag: index + 1 }))
        .toSorted((a, b) => a.order - b.order);
      for (const { tag, fate: wanted, flush, twice } of steps) {
        for (let time = 0; time < (twice ? 2 : 1); time++) {
          if (wanted === "ack") acknowledgements.ack(message(tag));
          if (wanted === "nack" || wanted === "reject") acknowledgements.refuse(message(tag), `basic.${wanted}`, true);
        }
        if (flush) acknowledgements.flush();
      }
      acknowledgements.flush();
      const wanted = steps.filter((step) => step.fate !== "never").map((step) => [step.tag, step.fate] as const);
      expect(fates).toEqual(new Map(wanted));
    },
  );
});

test("settlements that are due together and in order are one frame", () => {
  const tags = Array.from({ length: 100 }, (_, index) => index + 1);
  const { channel, fates, frames } = brokerChannel(tags);
  const acknowledgements = createAcknowledgements(channel, unexpected);
  for (const tag of tags) acknowledgements.delivered(message(tag));
  for (const tag of tags) acknowledgements.ack(message(tag));
  acknowledgements.flush();
  expect(fates.size).toBe(100);
  expect(frames()).toBe(1);
});

test("a channel that accepts no more frames is reported as lost once, and no uncaught error is thrown", () => {
  const tags = [1, 2, 3, 4];
  // The first frame settles 1 alone, because 2 is still being handled. The others settle 3 and 4.
  for (const failsAt of [1, 2, 3]) {
    const { channel, fates, frames } = brokerChannel(tags);
    const ack = channel.ack.bind(channel);
    channel.ack = (...given) => {
      if (frames() + 1 >= failsAt) throw new Error("Channel closed");
      ack(...given);
    };
    const causes: unknown[] = [];
    const acknowledgements = createAcknowledgements(channel, (cause) => causes.push(cause));
    for (const tag of tags) acknowledgements.delivered(message(tag));
    for (const tag of [1, 3, 4]) acknowledgements.ack(message(tag));
    acknowledgements.flush();
    expect(causes).toEqual([new Error("Channel closed")]);
    const sent = [...fates.keys()];
    acknowledgements.flush();
    expect(() => acknowledgements.ack(message(2))).toThrow("the channel is closed");
    expect(() => acknowledgements.refuse(message(2), "basic.nack", true)).toThrow("the channel is closed");
    acknowledgements.flush();
    expect([...fates.keys()]).toEqual(sent);
    expect(sent).toHaveLength(failsAt - 1);
    expect(causes).toHaveLength(1);
  }
});
