import type { ChannelModel, ConfirmChannel, Options } from "amqplib";
import { setTimeout } from "node:timers/promises";

import { historyHeader } from "../../../operate/history.ts";
import { type Headers, type Letter, isTable, isTyped } from "../../../operate/letter.ts";
import type { Sending } from "../../../operate/port.ts";
import { destroyConnection } from "../run/amqp-0-9-1/connect.ts";

/** Without a leader a quorum queue confirms nothing, and an election takes 7 s. */
const confirmWithinMs = 30_000;
/** How often a copy with an unknown outcome is sent before the redrive gives up. */
const mostTries = 5;

/** Publishes letters to queues, on a connection of its own: an alarm stops the reading of publishers. */
export interface Sender {
  /** @returns null when the broker has confirmed it, or the reason why the letter has to stay */
  readonly send: (letter: Letter, sending: Sending) => Promise<string | null>;
  /** The copies that were sent once more because their outcome was unknown. */
  readonly repeated: () => number;
  readonly close: () => void;
}

/** @param connect opens a connection */
export function createSender(connect: () => Promise<ChannelModel>): Sender {
  const returned = new Set<unknown>();
  let opened: Promise<{ readonly model: ChannelModel; readonly channel: ConfirmChannel }> | null = null;
  let repeated = 0;
  let refusal: string | null = null;
  const leave = (): void => {
    opened?.then(({ model }) => destroyConnection(model)).catch(() => undefined);
    opened = null;
  };
  const open = async (): Promise<{ readonly model: ChannelModel; readonly channel: ConfirmChannel }> => {
    const model = await connect();
    const channel = await model.createConfirmChannel();
    // Each letter in flight listens for its end.
    channel.setMaxListeners(0);
    channel.on("error", ({ code }: { readonly code?: unknown }) => {
      if (code === 403) refusal = "this user may not write to the default exchange";
    });
    channel.on("return", ({ properties }) => void returned.add(properties.headers?.[historyHeader]));
    return { model, channel };
  };
  const trySend = async (letter: Letter, sending: Sending): Promise<string | null> => {
    const { queue, edited = letter } = sending;
    const { channel } = await (opened ??= open());
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    const late = (): void => reject(new Error("no confirm"));
    const timer = globalThis.setTimeout(late, confirmWithinMs);
    channel.once("close", late);
    try {
      const options = copyOptions(letter, sending);
      const history: unknown = options.headers?.[historyHeader];
      channel.publish("", queue ?? "", Buffer.from(edited.body), options, (error: unknown) => {
        // The broker returns a copy before it confirms it. Letters of an import may have equal histories.
        if (returned.has(history)) resolve(`the queue ${queue} is gone`);
        else if (error === null || error === undefined) resolve(null);
        // Any other error means a closed channel, and then the outcome is unknown. Source: amqplib, `lib/channel.js`.
        else if (error instanceof Error && error.message === "message nacked")
          resolve(`the queue ${queue} refuses letters`);
        else late();
      });
      return await promise;
    } finally {
      clearTimeout(timer);
      channel.off("close", late);
    }
  };
  return {
    send: async (letter, sending) => {
      for (let tries = 1; ; tries++) {
        try {
          return await trySend(letter, sending);
        } catch (cause) {
          // amqplib cannot write each value that it reads.
          if (cause instanceof TypeError || cause instanceof RangeError)
            return `a letter cannot be sent: ${cause.message}`;
          leave();
          if (refusal !== null) return refusal;
          repeated += 1;
          if (tries === mostTries) return "the broker does not confirm letters";
          await setTimeout(1_000 * 2 ** tries);
        }
      }
    },
    repeated: () => repeated,
    close: leave,
  };
}

/**
 * Headers that a new life must not have: the records of deaths, which attempts are counted by, the description of the
 * last end, and the headers by which the broker routes to further queues. Spring AMQP (`RepublishMessageRecoverer`) and
 * MassTransit (`MessageHeaders`) write records of their own.
 */
const removed =
  /^(x-death|x-(first|last)-death-.*|x-(delivery|acquired)-count|CC|BCC|(x-opt-)?dlq-.*|x-exception-(message|stacktrace)|x-original-(exchange|routingKey)|MT-Reason|MT-Fault-.*|MT-Redelivery-Count)$/;

/** Headers that the broker writes by itself, or that would lead a letter to further queues. */
const brokersOwn = /^(x-(delivery|acquired)-count|CC|BCC)$/;

/** All properties of a letter, but no expiration and no user: the broker refuses the id of another user. */
function copyOptions(letter: Letter, { history, staysDead, edited = letter }: Sending): Options.Publish {
  const { headers, properties } = edited;
  const { expiration: _, userId: __, clusterId: ___, ...kept } = properties;
  const dropped = staysDead === true ? brokersOwn : removed;
  const given = Object.entries(headers).filter(([name]) => !dropped.test(name));
  const own = Object.fromEntries(given.map(([name, value]) => [name, explicit(value)]));
  if (staysDead !== true)
    for (const [name, value] of Object.entries(celeryAnew(letter.headers)))
      // A person may have given it another value.
      if (headers[name] === letter.headers[name]) own[name] = value;
  return { ...kept, mandatory: true, headers: history === null ? own : { ...own, [historyHeader]: history } };
}

/**
 * A worker of Celery counts attempts by the one header, and drops a task without a word after the other. Source: the
 * headers of version 2 of its message protocol.
 */
function celeryAnew({ lang, task, id, retries, expires }: Headers): Headers {
  if (![lang, task, id].every((each) => typeof each === "string")) return {};
  return { ...(retries === undefined ? {} : { retries: 0 }), ...(expires === undefined ? {} : { expires: null }) };
}

/** Names the type of a number with a fraction. amqplib takes some of them for integers. */
function explicit(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? value : { "!": "double", value };
  if (Array.isArray(value)) return value.map(explicit);
  if (!isTable(value) || isTyped(value)) return value;
  return Object.fromEntries(Object.entries(value as Headers).map(([name, each]) => [name, explicit(each)]));
}
