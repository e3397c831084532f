import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage } from "amqplib";

import type { Contract, Operation, PublishOperation } from "../../../src/index.ts";
import { attemptOf, between, operationsOf } from "../drive.ts";
import type { Handled } from "./handled.ts";
import { type Copy, type Ending091, endings091, type Mistake, settle, type Step } from "./mistakes-0-9-1.ts";

/** The steps that a contract asks for. */
function rightSteps(operations: readonly Operation[], message: ConsumeMessage): readonly Step[] {
  return operations.flatMap((operation): readonly Step[] => {
    switch (operation.operation) {
      case "basic.publish":
        return [{ do: "copy", copy: rightCopy(operation, message) }, { do: "confirm" }];
      case "basic.ack":
        return [settle("ack")];
      case "basic.nack":
        return [settle("nack", operation.requeue)];
      case "basic.reject":
        return [settle("reject", operation.requeue)];
      default:
        throw new Error(`${operation.operation} is no operation of AMQP 0-9-1`);
    }
  });
}

/** The copy of a first attempt. It takes the longest of its ways. */
function rightCopy(operation: PublishOperation, { fields, properties, content }: ConsumeMessage): Copy {
  const { exchange, routingKey, removeHeaders, copyRoutingKeyTo, expirationMs, mandatory } = operation;
  const { expiration: _own, userId: _user, ...others } = properties;
  const headers = Object.entries(properties.headers ?? {}).filter(([name]) => !removeHeaders.includes(name));
  if (expirationMs === "asked") throw new Error("no handler asked for a delay");
  return {
    exchange,
    routingKey,
    body: content,
    options: {
      ...others,
      mandatory,
      headers: {
        ...Object.fromEntries(headers),
        ...(copyRoutingKeyTo === undefined ? {} : { [copyRoutingKeyTo]: fields.routingKey }),
        ...operation.headers,
      },
      ...(expirationMs === null ? {} : { expiration: String(between(expirationMs)) }),
    },
  };
}

export interface Place091 {
  readonly connection: ChannelModel;
  readonly contract: Contract;
  /** The number of frames so far. */
  readonly frameCount: () => number;
}

/**
 * Takes a message of each ending, and handles them. Other messages are left over from another mistake, and are
 * acknowledged.
 *
 * @returns null if this mistake is impossible with the contract
 */
export async function handleAll091(
  { connection, contract, frameCount }: Place091,
  mistake: Mistake | null,
  names: readonly string[],
): Promise<readonly Handled[] | null> {
  const channel = await connection.createChannel();
  let isClosed = false;
  // The broker closes the channel after a second settlement. The mistake leads to this.
  channel.on("error", () => {
    isClosed = true;
  });
  const publisher = await connection.createConfirmChannel();
  const handled: Handled[] = [];
  const ended = (message: string, attempt: number, decision: Ending091): void => {
    handled.push({ message, attempt, decision, endedAtMs: Date.now(), framesBefore: frameCount() });
  };
  const messages = await takeAll(channel, contract, names, (left) => {
    ended(String(left.properties.messageId), attemptOf(contract, left), "success");
    channel.ack(left);
  });
  const place = { channel, publisher, isOpen: () => !isClosed };
  let isPossible = true;
  for (const [index, ending] of endings091.entries()) {
    const name = names[index] ?? "";
    const message = messages.get(name) as ConsumeMessage;
    const right = rightSteps(operationsOf(contract.outcomes[ending], 1), message);
    const isWrong = mistake?.of === ending;
    const wrong = isWrong ? mistake.steps(right, message) : right;
    if (wrong === null) isPossible = false;
    const isTooSoon = isWrong && mistake.isTooSoon === true;
    if (isTooSoon) await perform(place, message, wrong ?? right);
    // After the broker's answer, all earlier frames have passed.
    if (isTooSoon) await publisher.checkQueue(contract.workQueue ?? "");
    ended(name, 1, ending);
    if (!isTooSoon) await perform(place, message, wrong ?? right);
  }
  await publisher.waitForConfirms();
  await publisher.close();
  if (!isClosed) await channel.close();
  return isPossible ? handled : null;
}

/** All of them together, so that each is settled while others are not. */
async function takeAll(
  channel: Channel,
  { workQueue }: Contract,
  names: readonly string[],
  endLeft: (message: ConsumeMessage) => void,
): Promise<ReadonlyMap<string, ConsumeMessage>> {
  const messages = new Map<string, ConsumeMessage>();
  await channel.prefetch(names.length);
  const { promise, resolve } = Promise.withResolvers<void>();
  const { consumerTag } = await channel.consume(workQueue ?? "", (message) => {
    if (message === null) return;
    const id = String(message.properties.messageId);
    if (names.includes(id)) messages.set(id, message);
    else endLeft(message);
    if (messages.size === names.length) resolve();
  });
  await promise;
  await channel.cancel(consumerTag);
  return messages;
}

async function perform(
  {
    channel,
    publisher,
    isOpen,
  }: { readonly channel: Channel; readonly publisher: ConfirmChannel; readonly isOpen: () => boolean },
  message: ConsumeMessage,
  steps: readonly Step[],
): Promise<void> {
  for (const step of steps) {
    if (!isOpen()) return;
    if (step.do === "confirm") await publisher.waitForConfirms();
    else if (step.do === "copy") {
      const { exchange, routingKey, body, options } = step.copy;
      publisher.publish(exchange, routingKey, body, options);
    } else if (step.by === "ack") channel.ack(message, step.multiple);
    else if (step.by === "nack") channel.nack(message, step.multiple, step.requeue);
    else channel.reject(message, step.requeue);
  }
}
