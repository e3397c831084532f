import amqplib from "amqplib";
import type { ConfirmChannel, GetMessage } from "amqplib";

import { countsOf } from "../../src/brokers/rabbitmq/operate/look.ts";
import type { CompiledSystem, Contract, TargetInput } from "../../src/index.ts";
import { brokers as compilers, compile } from "../../src/index.ts";
import { accepted, checked } from "./examples.ts";
import { type Broker, createVhost } from "./live.ts";
import { createManagement, type JsonObject } from "./management.ts";

export const placedOrder = { exchange: "shop.orders", routingKey: "order.placed" };

/** A compiled system in a virtual host of its own. */
export interface DeployedSystem extends AsyncDisposable {
  readonly broker: Broker;
  readonly declaration: unknown;
  readonly strategy: NonNullable<TargetInput<"rabbitmq">["strategy"]>;
  readonly url: string;
  readonly vhost: string;
  readonly compiled: CompiledSystem<"rabbitmq">;
  readonly contract: (consumer: string) => Contract;
  readonly channel: ConfirmChannel;
  /** Publishes messages, one per id, and waits until the broker has them. They are placed orders, if nothing is said. */
  readonly publish: (ids: readonly string[], to?: typeof placedOrder) => Promise<void>;
  /** The messages in a queue that are ready. */
  readonly count: (queue: string) => Promise<number>;
  /** Takes everything out of a queue. */
  readonly drain: (queue: string) => Promise<GetMessage[]>;
  /** Takes dead letters of billing until this many different messages have come. Returns the id of each letter. */
  readonly deadIds: (count: number) => Promise<string[]>;
  /** Ends the test's own connection, and changes nothing else. */
  readonly disconnect: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/**
 * Compiles a declaration for a broker and deploys it through the definitions file, as an operator would by hand.
 *
 * @param more settings of the target
 * @param prepare makes things of other owners in the virtual host first
 */
export async function deploy(
  broker: Broker,
  declaration: unknown,
  strategy: DeployedSystem["strategy"] = "auto",
  prepare: (vhost: string) => Promise<void> = async () => {},
  more: Pick<TargetInput<"rabbitmq">, "strategies" | "deadQueue"> = {},
): Promise<DeployedSystem> {
  const target = { broker: "rabbitmq", version: broker.version, strategy, ...more } as const;
  const compiled = accepted(compile(checked(declaration), target));
  const { vhost, amqpUrl, dispose } = await createVhost(broker);
  const management = createManagement(broker.managementUrl);
  await prepare(vhost);
  await management.importDefinitions(compilers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject);
  await policiesInForce(broker, vhost, compiled);
  const connection = await amqplib.connect(amqpUrl);
  const channel = await connection.createConfirmChannel();
  const asked = { checkQueue: channel.checkQueue.bind(channel) };
  channel.checkQueue = async (queue) => countsOf(asked, queue);
  const end = async (): Promise<void> => {
    await connection.close();
    await dispose();
  };
  return {
    broker,
    declaration,
    strategy,
    url: amqpUrl,
    vhost,
    compiled,
    channel,
    contract: (consumer) => {
      const contract = compiled.contracts.find((each) => each.consumer === consumer);
      if (contract === undefined) throw new Error(`no contract for ${consumer}`);
      return contract;
    },
    publish: async (ids, { exchange, routingKey } = placedOrder) => {
      for (const id of ids)
        channel.publish(exchange, routingKey, Buffer.from(`{"id":"${id}"}`), { messageId: id, persistent: true });
      await channel.waitForConfirms();
    },
    count: async (queue) => (await channel.checkQueue(queue)).messageCount,
    drain: (queue) => drain(channel, queue),
    deadIds: async (count) => {
      const ids: string[] = [];
      await until(60_000, async () => {
        for (const { properties } of await drain(channel, "shop.billing.dead")) ids.push(String(properties.messageId));
        return new Set(ids).size >= count;
      });
      return ids;
    },
    disconnect: async () => connection.close(),
    dispose: end,
    [Symbol.asyncDispose]: end,
  };
}

/** Waits until every queue has its own policy. The broker's decision is visible at once, unlike its statistics. */
async function policiesInForce(broker: Broker, vhost: string, compiled: CompiledSystem<"rabbitmq">): Promise<void> {
  await until(60_000, async () => {
    const policies = await policyOfEachQueue(broker, vhost);
    return compiled.topology.queues.every((queue) => policies.get(queue.name) === queue.name);
  });
}

/** The policy in force on each queue, by the queue's name. */
export async function policyOfEachQueue(broker: Broker, vhost: string): Promise<ReadonlyMap<string, string | null>> {
  const path = `queues/${encodeURIComponent(vhost)}?disable_stats=true`;
  const queues = await createManagement(broker.managementUrl).get<readonly { name: string; policy: string | null }[]>(
    path,
  );
  return new Map(queues.map((queue) => [queue.name, queue.policy]));
}

async function drain(channel: ConfirmChannel, queue: string): Promise<GetMessage[]> {
  const messages: GetMessage[] = [];
  for (;;) {
    const message = await channel.get(queue, { noAck: true });
    if (message === false) return messages;
    messages.push(message);
  }
}

/** Waits until a condition holds. @throws if it does not hold within the time */
export async function until(limitMs: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`the condition did not hold within ${limitMs} ms: ${condition.toString()}`);
    await sleep(25);
  }
}

export async function sleep(durationMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, durationMs));
}
