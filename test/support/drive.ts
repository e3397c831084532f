import amqplib from "amqplib";
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage } from "amqplib";

import type { Contract, Operation, PublishOperation } from "../../src/index.ts";
import { type Decision, type Ending, operationsFor as operationsOfDecision } from "./decide.ts";
import { driveAmqp10 } from "./drive-amqp-1-0.ts";

export type { Decision, Ending };

/** One delivery, as the consumer saw it. */
export interface Seen {
  readonly id: string;
  readonly attempt: number;
  readonly atMs: number;
  readonly ending: Ending;
  readonly routingKey: string;
  readonly redelivered: boolean;
}

/** A consumer that does exactly the operations of a contract: it knows no strategy. */
export interface DrivenConsumer {
  readonly seen: readonly Seen[];
  readonly stop: () => Promise<void>;
}

export interface DriveOptions {
  readonly url: string;
  /** A connection of the caller's, for hundreds of consumers. Over AMQP 0-9-1 alone. */
  readonly connection?: ChannelModel;
  /** The name of its own connection. Over AMQP 0-9-1 alone. */
  readonly connectionName?: string;
  readonly contract: Contract;
  /** Decides the end of this run of the handler. `runs` counts the earlier deliveries of this message. */
  readonly decide: (message: { readonly id: string; readonly attempt: number; readonly runs: number }) => Decision;
  /**
   * The number of the consumer's instances. Each takes one message at a time, so that a crash affects only one message.
   */
  readonly instances?: number;
}

function connectNamed({ url, connectionName: connection_name }: DriveOptions): Promise<ChannelModel> {
  return amqplib.connect(url, connection_name === undefined ? {} : { clientProperties: { connection_name } });
}

export async function drive(options: DriveOptions): Promise<DrivenConsumer> {
  if (options.contract.protocol === "amqp-1.0") return driveAmqp10(options);
  const connection = options.connection ?? (await connectNamed(options));
  const seen: Seen[] = [];
  const stopped = { value: false };
  const instances = await Promise.all(
    Array.from({ length: options.instances ?? 1 }, () => startInstance(connection, options, seen, stopped)),
  );
  return {
    seen,
    stop: async () => {
      stopped.value = true;
      await Promise.all(instances.map((instance) => instance.idle()));
      if (options.connection === undefined) await connection.close();
    },
  };
}

async function startInstance(
  connection: ChannelModel,
  options: DriveOptions,
  seen: Seen[],
  stopped: { value: boolean },
): Promise<{ idle: () => Promise<void> }> {
  const publisher = await connection.createConfirmChannel();
  let busy: Promise<void> = Promise.resolve();
  let current: Channel | undefined;
  let consumerTag = "";
  const open = async (): Promise<void> => {
    const channel = await connection.createChannel();
    current = channel;
    await channel.prefetch(1);
    ({ consumerTag } = await channel.consume(options.contract.workQueue ?? "", (message) => {
      if (message === null) return;
      busy = busy
        .then(() => handle(channel, message))
        .catch((cause: unknown) => {
          if (!stopped.value) throw cause;
        });
    }));
  };
  const handle = async (channel: Channel, message: ConsumeMessage): Promise<void> => {
    if (stopped.value) return;
    const id = String(message.properties.messageId);
    const attempt = attemptOf(options.contract, message);
    const decision = options.decide({ id, attempt, runs: seen.filter((each) => each.id === id).length });
    const ending = endingOf(decision);
    seen.push({
      id,
      attempt,
      ending,
      atMs: Date.now(),
      routingKey: message.fields.routingKey,
      redelivered: message.fields.redelivered,
    });
    if (ending === "crash") {
      await channel.close();
      await open();
      return;
    }
    // A consumer that shuts down stops taking messages before it returns the ones that it has.
    if (ending === "return") await channel.cancel(consumerTag);
    const operations = operationsFor(options.contract, decision, attempt);
    for (const operation of operations) await perform(channel, publisher, message, operation);
    if (typeof decision === "object" && "crashAfter" in decision) {
      await channel.close();
      await open();
    }
    if (ending === "return") {
      await channel.close();
      await open();
    }
  };
  await open();
  return {
    idle: async () => {
      // A crashing handler closes its channel and opens another one. Wait for that, or the same channel is closed
      // twice.
      await busy;
      await current?.close();
      await busy;
    },
  };
}

export function endingOf(decision: Decision): Ending {
  if (typeof decision === "string") return decision;
  return "askMs" in decision ? "transient" : decision.of;
}

/** The operations of a decision. A number beyond the last attempt counts as the last. */
export function operationsFor(contract: Contract, decision: Decision, attempt: number): readonly Operation[] {
  return operationsOfDecision(contract, decision, Math.min(attempt, contract.attempts.length), withAsked);
}

function withAsked(operation: Operation, askMs: number): Operation {
  const asked = { from: askMs, to: askMs };
  if (operation.operation === "basic.publish" && operation.expirationMs === "asked")
    return { ...operation, expirationMs: asked };
  if (operation.operation === "modified" && operation.deliveryTimeMs === "asked")
    return { ...operation, deliveryTimeMs: asked };
  return operation;
}

/** The attempt of a delivery, from the place that the contract names. */
export function attemptOf(
  contract: Contract,
  message: {
    readonly fields: { readonly routingKey: string; readonly exchange: string; readonly redelivered: boolean };
    readonly properties: { readonly headers?: Readonly<Record<string, unknown>> | undefined };
  },
): number {
  const where = contract.attemptNumber;
  if (where === null) return 1;
  // On 4.3 a first delivery shows the published header.
  if (where.from === "header" && !message.fields.redelivered) return 1;
  if (where.from === "header") return Number(message.properties.headers?.[where.header] ?? 0) + 1;
  const name = where.from === "exchange" ? message.fields.exchange : message.fields.routingKey;
  return name.startsWith(where.prefix) ? Number(name.slice(where.prefix.length)) : 1;
}

async function perform(channel: Channel, publisher: ConfirmChannel, message: ConsumeMessage, operation: Operation) {
  switch (operation.operation) {
    case "basic.ack":
      channel.ack(message);
      return;
    case "basic.nack":
      channel.nack(message, false, operation.requeue);
      return;
    case "basic.reject":
      channel.reject(message, operation.requeue);
      return;
    case "basic.publish":
      await publishCopy(publisher, message, operation);
      return;
    default:
      throw new Error(`${operation.operation} is no operation of AMQP 0-9-1`);
  }
}

/** Publishes with mandatory and waits for the confirm. A copy that the broker returns is a failure. */
async function publishCopy(publisher: ConfirmChannel, message: ConsumeMessage, contracted: PublishOperation) {
  const ways = [contracted, ...(contracted.spread ?? [])];
  const operation = { ...contracted, ...ways[between({ from: 0, to: ways.length - 1 })] };
  const removed = new Set(operation.removeHeaders);
  const headers: Record<string, unknown> = Object.fromEntries(
    Object.entries(message.properties.headers ?? {}).filter(([name]) => !removed.has(name)),
  );
  const keep = operation.copyRoutingKeyTo;
  if (keep !== undefined && !(keep in headers)) headers[keep] = message.fields.routingKey;
  const { expirationMs } = operation;
  if (expirationMs === "asked") throw new Error("no handler asked for a delay");
  let returned = false;
  const onReturn = (): void => {
    returned = true;
  };
  publisher.once("return", onReturn);
  const { expiration: _own, userId: _user, ...properties } = message.properties;
  publisher.publish(operation.exchange, operation.routingKey, message.content, {
    ...properties,
    mandatory: operation.mandatory,
    headers: { ...headers, ...operation.headers },
    ...(expirationMs === null ? {} : { expiration: String(between(expirationMs)) }),
  });
  await publisher.waitForConfirms();
  publisher.off("return", onReturn);
  if (returned) throw new Error(`a copy to ${operation.exchange} had no route`);
}

/** A random whole number between the two, both included. */
export function between({ from, to }: { readonly from: number; readonly to: number }): number {
  return from + Math.floor(Math.random() * (to - from + 1));
}
