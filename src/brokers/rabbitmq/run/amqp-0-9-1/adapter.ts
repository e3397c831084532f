import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";

import { refused, refuseIf } from "../../../../diagnostics/render.ts";
import type { Delivery, Feed, SettleValues } from "../../../../consume/port/adapter.ts";
import type { Adapter, Opening } from "../port.ts";
import { atMost, inTime } from "../../../../consume/port/long-timer.ts";
import { type Acknowledgements, createAcknowledgements } from "./acknowledgements.ts";
import { mostPassedOn, passedOn } from "./passed-on.ts";
import { checkBroker } from "../deployed/check-broker.ts";
import { closeInOrder, connectByAmqp091, destroyConnection, innerOf } from "./connect.ts";
import { urlsOf, virtualHostIn } from "../connection.ts";
import type { Contract, Operation } from "../../compile/contract.ts";
import { publicationsOf } from "../../compile/publications.ts";
import { type Login, askLogin } from "../credentials.ts";
import { askByChannel, watchForCut } from "../amqp-1-0/cut-off.ts";
import { watchKeptDeadLetters } from "../deployed/dead-letters-kept.ts";
import { connectToOne, leave } from "../nodes.ts";
import { type Publisher, createPublisher } from "./publisher.ts";
import { readDelivery } from "./read-delivery.ts";
import { bytesReadOn, listenTo } from "../listen.ts";
import { type Taking, createTaking } from "./taking.ts";
import { noAnswer, noQueueOfItsOwn, queueRefused, tooManyQueues } from "../queue-refusals.ts";
import { refusalOf, tooFewChannels } from "../refusals.ts";
import { keepRenewed } from "../renewal.ts";

/** RabbitMQ by AMQP 0-9-1, with amqplib. */
export const adapter: Adapter = {
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
  readonly taking: Taking;
  readonly publisher: Publisher;
  readonly virtualHost: string;
  readonly queue: string;
  /** False for a queue with a single active consumer, and for a queue of this instance alone. */
  readonly answersGet: boolean;
  /** Ends the tasks beside the connection: renewing credentials, and listening for the broker. */
  readonly end: () => void;
}

/** The time that the broker has to accept new credentials. */
const renewsWithinMs = 30_000;

/** The life of a connection, until it is lost or ended. */
interface Life {
  /** The reason why the connection is about to be lost. */
  cause: unknown;
  /** Called when the connection is over, lost or ended. */
  readonly endings: (() => void)[];
  readonly end: () => void;
  /** Reports the loss once, and nothing if the connection was ended. */
  readonly lose: (cause?: unknown) => void;
}

function livesOn({ listener }: Opening): Life {
  let isOver = false;
  const life: Life = {
    cause: new Error("the connection was closed"),
    endings: [],
    end: () => {
      isOver = true;
      for (const each of life.endings) each();
    },
    lose: (cause = life.cause) => {
      if (isOver) return;
      life.end();
      listener.lost(cause);
    },
  };
  return life;
}

async function open(opening: Opening): Promise<Feed> {
  const { contract, listener, givenUp } = opening;
  const login = await askLogin(opening.connection, givenUp);
  const { connected: connection, node } = await connectToOne(opening.connection, givenUp, (each) =>
    connectByAmqp091(each, login, givenUp, contract.consumer),
  );
  const life = livesOn(opening);
  connection.on("error", (error) => {
    life.cause = error;
  });
  connection.on("close", () => life.lose());
  // Few programs like to be asked for credentials twice in a row, so the first login serves both.
  let first: Login | null = login;
  const connectAgain = async (over: AbortSignal): Promise<ChannelModel> => {
    const again = first ?? (await askLogin(opening.connection, over));
    first = null;
    const sameNode = { ...opening.connection, url: node.url };
    return (await connectToOne(sameNode, over, (each) => connectByAmqp091(each, again, over, contract.consumer)))
      .connected;
  };
  const publisher = createPublisher({
    connect: connectAgain,
    refused: () => renewal.now(),
    blocked: listener.blocked,
  });
  let loginNow = login;
  const give = async (renewed: Login): Promise<void> => {
    loginNow = renewed;
    const { password } = renewed;
    const renewing = connection.updateSecret(Buffer.from(password), "the one before is about to expire");
    const late = (): Error => new Error("the broker does not answer to new credentials");
    await inTime(renewsWithinMs, renewing, late, null);
    // The broker does not read a blocked connection for now, so the consumer does not wait for its answer.
    publisher.updateSecret(password).catch(() => undefined);
  };
  const renewal = keepRenewed(login, opening.connection, give, listener.report);
  life.endings.push(renewal.stop, publisher.close);
  givenUp.addEventListener("abort", life.end, { once: true });
  try {
    const feed = await begin(opening, connection, node.url, publisher, life);
    const { stream, heartbeat } = innerOf(connection);
    life.endings.push(
      watchKeptDeadLetters(opening, () => loginNow),
      listenTo(stream, heartbeat * 1_000, listener.answers, life.lose),
    );
    return feed;
  } catch (error) {
    life.end();
    destroyConnection(connection);
    const limit = tooFewChannels(node.url, error) ?? tooFewChannels(node.url, life.cause);
    throw limit === null ? error : refused([limit]);
  }
}

async function begin(
  opening: Opening,
  connection: ChannelModel,
  url: string,
  publisher: Publisher,
  life: Life,
): Promise<Feed> {
  const { contract, listener, concurrency, acceptsWithinMs } = opening;
  const virtualHost = virtualHostIn(url);
  const channel = await connection.createChannel();
  channel.on("error", (error) => {
    life.cause = error;
  });
  const acknowledgements = createAcknowledgements(channel, life.lose, (message) => taking.settled(message));
  // Deliveries of a closed channel cannot be settled any more, so everything begins anew.
  channel.on("close", () => {
    acknowledgements.discard();
    life.lose();
  });
  // Not only with the first copy: a user without room for more connections or channels must learn it now.
  await publisher.open([...new Set(publicationsOf(contract).map(({ exchange }) => exchange))]);
  const queue = await queueOf(channel, contract, virtualHost);
  const taking = createTaking({
    channel,
    queue,
    concurrency,
    acceptsWithinMs,
    late: () => {
      leave(opening.connection, url);
      return refused([noAnswer(queue, acceptsWithinMs)]);
    },
    delivered: (message) => {
      acknowledgements.delivered(message);
      listener.delivered(readDelivery(contract, message));
    },
    lost: life.lose,
  });
  // Another node may give messages when this one does not.
  if (contract.workQueue !== null && urlsOf(opening.connection).length > 1) {
    const leaveNode = (cause: unknown): void => {
      leave(opening.connection, url);
      life.lose(cause);
    };
    life.endings.push(
      watchForCut(
        {
          queue,
          ask: askByChannel(connection, queue),
          hungryMs: taking.hungryMs,
          bytesRead: () => bytesReadOn(innerOf(connection).stream),
        },
        leaveNode,
      ),
    );
  }
  const { end } = life;
  const { arguments: given } = opening.compiled.topology.queues.find(({ name }) => name === queue) ?? {};
  const answersGet = contract.workQueue !== null && given?.["x-single-active-consumer"] !== true;
  const parts = { connection, channel, acknowledgements, taking, publisher };
  return feedOf({ ...parts, contract, virtualHost, queue, answersGet, end });
}

/** The work queue. If every instance has its own, it is a queue that ends with the connection. */
async function queueOf(channel: Channel, contract: Contract, virtualHost: string): Promise<string> {
  const { workQueue, instanceQueue } = contract;
  if (workQueue !== null) return workQueue;
  if (instanceQueue === undefined) throw new Error("the contract has neither a work queue nor one for each instance");
  const { bindings, ...attributes } = instanceQueue;
  try {
    const { queue } = await channel.assertQueue("", attributes);
    for (const { exchange, routingKey, arguments: given } of bindings)
      await channel.bindQueue(queue, exchange, routingKey, given);
    return queue;
  } catch (cause) {
    refuseIf(tooManyQueues(virtualHost, cause));
    if ((cause as { readonly code?: unknown }).code !== 403) throw cause;
    throw refused([noQueueOfItsOwn({ contract, virtualHost, cause })]);
  }
}

function feedOf(state: State): Feed {
  const { channel, connection, acknowledgements, taking, contract, virtualHost, queue, answersGet } = state;
  /** The settlements that the channel has passed on for sure. */
  let handled = 0;
  return {
    resume: (most) =>
      taking.resume(most).catch((cause: unknown) => {
        throw queueRefused(contract, queue, virtualHost, cause);
      }),
    pause: async () => {
      const before = acknowledgements.commands();
      if (await taking.pause()) handled = before;
    },
    settle: (delivery, operations, values) =>
      settleMessage(state, delivery, operations as readonly Operation[], values),
    settled: async () => {
      acknowledgements.flush();
      if (acknowledgements.commands() - handled >= mostPassedOn) await passedOn(channel, queue, answersGet);
    },
    close: async (withinMs) => {
      acknowledgements.flush();
      state.end();
      if (withinMs > 0) await atMost(withinMs, closeInOrder(connection, channel));
      destroyConnection(connection);
    },
  };
}

function settleMessage(
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
  return performEach(state, message, operations, values);
}

async function performEach(
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
