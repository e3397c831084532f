import type { Duplex } from "node:stream";

import amqplib from "amqplib";
import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";

import { refused } from "../../diagnostics/render.ts";
import type { Adapter, Delivery, Opening, Session, SettleValues } from "../adapter.ts";
import { atMost } from "../long-timer.ts";
import { createAcknowledgements } from "./acknowledgements.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import { checkBroker } from "./check-broker.ts";
import type { RabbitmqConnection } from "./connection.ts";
import { virtualHostOf } from "./connection.ts";
import type { Contract, Operation } from "./contract.ts";
import type { Login } from "./credentials.ts";
import { askLogin } from "./credentials.ts";
import type { Publisher } from "./publisher.ts";
import { createPublisher } from "./publisher.ts";
import { readDelivery } from "./read-delivery.ts";
import { missing, noQueueOfItsOwn, notPermitted } from "./refusals.ts";
import type { Renewal } from "./renewal.ts";
import { keepRenewed } from "./renewal.ts";

/** RabbitMQ by AMQP 0-9-1, with amqplib. */
export const amqplibAdapter: Adapter<"rabbitmq"> = {
  check: (comparison) => checkBroker(comparison, (login) => connect(comparison.connection, login), closeAtMost),
  open,
  unstarted: "hold",
};

/** How long a broker may take to let a client in. */
const connectWithinMs = 30_000;

async function connect({ url, tls }: RabbitmqConnection, login: Login | null): Promise<ChannelModel> {
  const credentials = login === null ? {} : { credentials: amqplib.credentials.plain(login.username, login.password) };
  // Without noDelay a lone acknowledgement would wait for the next one.
  return amqplib.connect(url, { ...tls, ...credentials, noDelay: true, keepAlive: true, timeout: connectWithinMs });
}

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
  const { contract, listener } = opening;
  const virtualHost = virtualHostOf(opening.connection.url);
  const login = await askLogin(opening.connection);
  const connection = await connect(opening.connection, login);
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
    const state: State = {
      contract,
      connection,
      channel,
      acknowledgements,
      publisher: createPublisher(connection, renewal.now),
      renewal,
      virtualHost,
      consumerTag: null,
      queue: await queueOf(channel, contract, virtualHost),
    };
    return sessionOf(state, listener, end);
  } catch (error) {
    isOver = true;
    renewal.stop();
    destroy(connection);
    throw error;
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
    if ((cause as { readonly code?: unknown }).code !== 403) throw cause;
    const sources = new Set(bindings.map(({ exchange }) => exchange));
    throw refused([noQueueOfItsOwn([...sources], virtualHost, cause)]);
  }
}

function sessionOf(state: State, listener: Opening["listener"], end: () => void): Session {
  const { channel, connection, acknowledgements, contract } = state;
  return {
    resume: async () => {
      const take = (message: ConsumeMessage | null): void => {
        // The broker has cancelled the consumer: the queue was deleted, say.
        if (message === null) {
          state.consumerTag = null;
          end();
          return;
        }
        acknowledgements.delivered(message);
        listener.delivered(readDelivery(contract, message));
      };
      const { consumerTag } = await channel.consume(state.queue, take).catch((cause: unknown) => {
        throw refusalOf(state.queue, state.virtualHost, cause);
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
      destroy(connection);
    },
  };
}

function refusalOf(queue: string, virtualHost: string, cause: unknown): unknown {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  // Somebody else's consumer that is alone by its own wish goes away at some time, and has this code too.
  if (/in exclusive use/.test(String(message))) return cause;
  switch (code) {
    case 403:
      return refused([notPermitted("read", queue, virtualHost, cause)]);
    case 404:
      return refused([missing("queue", queue)]);
    default:
      return cause;
  }
}

/** How long a connection that only looked may take to end. */
const closeWithinMs = 2_000;

async function closeAtMost(connection: ChannelModel): Promise<void> {
  await atMost(closeWithinMs, connection.close());
  destroy(connection);
}

/** The broker has read what was sent on the channel before it answers that it is closed. */
async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  await channel.close();
  await connection.close();
}

/** Ends the socket: a peer that has gone silent never answers, and a socket that is left half open keeps the process alive. */
function destroy(connection: ChannelModel): void {
  const { stream } = connection.connection as unknown as { readonly stream: Duplex };
  // With an error amqplib notices, and ends its heartbeats.
  stream.destroy(new Error("the consumer has ended the connection"));
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
