import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";

import { refused } from "../../diagnostics/render.ts";
import type { Adapter, Delivery, Opening, Session, SettleValues } from "../adapter.ts";
import { atMost, inTime } from "../long-timer.ts";
import { createAcknowledgements } from "./acknowledgements.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import { checkBroker } from "./check-broker.ts";
import { closeInOrder, connectByAmqp091, destroyConnection } from "./connect-amqp-0-9-1.ts";
import { virtualHostIn } from "./connection.ts";
import type { Contract, Operation } from "./contract.ts";
import { publishedBy } from "./contract.ts";
import type { Login } from "./credentials.ts";
import { askLogin } from "./credentials.ts";
import { connectToOne } from "./nodes.ts";
import type { Publisher } from "./publisher.ts";
import { createPublisher } from "./publisher.ts";
import { readDelivery } from "./read-delivery.ts";
import { noAnswer, noQueueOfItsOwn, queueAnswersWithinMs, queueRefused, tooManyQueues } from "./queue-refusals.ts";
import { refusalOf, tooFewChannels } from "./refusals.ts";
import type { Renewal } from "./renewal.ts";
import { keepRenewed } from "./renewal.ts";

/** RabbitMQ by AMQP 0-9-1, with amqplib. */
export const amqplibAdapter: Adapter<"rabbitmq"> = {
  check: checkBroker,
  open,
  refusal: refusalOf,
  unstarted: "hold",
};

interface State {
  readonly contract: Contract;
  readonly connection: ChannelModel;
  readonly channel: Channel;
  readonly acknowledgements: Acknowledgements;
  readonly publisher: Publisher;
  readonly renewal: Renewal;
  readonly virtualHost: string;
  /** Null where nothing is being taken. */
  consumerTag: string | null;
  queue: string;
}

async function open(opening: Opening<"rabbitmq">): Promise<Session> {
  const { contract, listener, givenUp } = opening;
  const login = await askLogin(opening.connection, givenUp);
  const { connected: connection, url } = await connectToOne(opening.connection, givenUp, (node) =>
    connectByAmqp091(node, login, givenUp),
  );
  const virtualHost = virtualHostIn(url);
  const give = ({ password }: Login): Promise<unknown> =>
    connection.updateSecret(Buffer.from(password), "the one before is about to expire");
  const renewal = keepRenewed(login, opening.connection, give, listener.report);
  let cause: unknown = new Error("the connection was closed");
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    renewal.stop();
    listener.lost(cause);
  };
  connection.on("error", (error) => {
    cause = error;
  });
  connection.on("close", end);
  try {
    const channel = await connection.createChannel();
    channel.on("error", (error) => {
      cause = error;
    });
    const acknowledgements = createAcknowledgements(channel, (error) => {
      cause = error;
      end();
    });
    // Deliveries of a closed channel cannot be settled any more, so everything begins anew.
    channel.on("close", () => {
      acknowledgements.discard();
      end();
    });
    await channel.prefetch(opening.concurrency);
    const publisher = createPublisher(connection, renewal.now);
    // Not with the first copy: a user who may open no more channels would lose the connection by it, again and again.
    if (publishedBy(contract).length > 0) await publisher.open();
    const state: State = {
      contract,
      connection,
      channel,
      acknowledgements,
      publisher,
      renewal,
      virtualHost,
      consumerTag: null,
      queue: await queueOf(channel, contract, virtualHost),
    };
    const cancelled = (): void => {
      cause = new Error(
        `the broker has ended the consumer of ${state.queue}: the queue is gone, or a message was held for too long`,
      );
      end();
    };
    return sessionOf(state, listener, cancelled);
  } catch (error) {
    isOver = true;
    renewal.stop();
    destroyConnection(connection);
    const limit = tooFewChannels(url, error) ?? tooFewChannels(url, cause);
    throw limit === null ? error : refused([limit]);
  }
}

/** The work queue; for a consumer whose every instance has its own, one that ends with the connection. */
async function queueOf(channel: Channel, { workQueue, instanceQueue }: Contract, virtualHost: string): Promise<string> {
  if (workQueue !== null) return workQueue;
  if (instanceQueue === undefined) throw new Error("the contract has neither a work queue nor one for each instance");
  const { bindings, ...attributes } = instanceQueue;
  try {
    const { queue } = await channel.assertQueue("", attributes);
    for (const { exchange, routingKey } of bindings) await channel.bindQueue(queue, exchange, routingKey);
    return queue;
  } catch (cause) {
    const limit = tooManyQueues(virtualHost, cause);
    if (limit !== null) throw refused([limit]);
    if ((cause as { readonly code?: unknown }).code !== 403) throw cause;
    const sources = new Set(bindings.map(({ exchange }) => exchange));
    throw refused([noQueueOfItsOwn([...sources], virtualHost, cause)]);
  }
}

function sessionOf(state: State, listener: Opening["listener"], cancelled: () => void): Session {
  const { channel, connection, acknowledgements, contract } = state;
  return {
    resume: async () => {
      const take = (message: ConsumeMessage | null): void => {
        if (message === null) {
          state.consumerTag = null;
          cancelled();
          return;
        }
        acknowledgements.delivered(message);
        listener.delivered(readDelivery(contract, message));
      };
      const { queue, virtualHost } = state;
      const late = (): Error => refused([noAnswer(queue)]);
      // The priority that consumers have anyway. A stream, which would give its messages to everybody and keep them, knows none and refuses it, also
      // where the user may not compare what the queue was made with.
      const consuming = channel.consume(queue, take, { priority: 0 });
      const { consumerTag } = await inTime(queueAnswersWithinMs, consuming, late, null).catch((cause: unknown) => {
        throw queueRefused(queue, virtualHost, cause);
      });
      state.consumerTag = consumerTag;
    },
    pause: async () => {
      const tag = state.consumerTag;
      state.consumerTag = null;
      if (tag !== null) await channel.cancel(tag);
    },
    settle: (delivery, operations, values) => settle(state, delivery, operations as readonly Operation[], values),
    close: async (withinMs) => {
      acknowledgements.flush();
      state.renewal.stop();
      if (withinMs > 0) await atMost(withinMs, closeInOrder(connection, channel));
      destroyConnection(connection);
    },
  };
}

function settle(
  state: State,
  delivery: Delivery,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> | undefined {
  const message = delivery.raw as ConsumeMessage;
  const [only] = operations;
  if (operations.length === 1 && only !== undefined && only.operation !== "basic.publish") {
    perform(state, message, only);
    return undefined;
  }
  return settleInOrder(state, message, operations, values);
}

async function settleInOrder(
  state: State,
  message: ConsumeMessage,
  operations: readonly Operation[],
  values: SettleValues,
): Promise<void> {
  for (const operation of operations) {
    if (operation.operation === "basic.publish") await state.publisher.publish(message, operation, values);
    else perform(state, message, operation);
  }
}

function perform({ acknowledgements }: State, message: ConsumeMessage, operation: Operation): void {
  switch (operation.operation) {
    case "basic.ack":
      acknowledgements.ack(message);
      return;
    case "basic.nack":
    case "basic.reject":
      acknowledgements.refuse(message, operation.operation, operation.requeue);
      return;
    case "basic.publish":
    case "accepted":
    case "released":
    case "modified":
      throw new Error(`${operation.operation} is not done on a channel`);
    default:
      operation satisfies never;
  }
}
