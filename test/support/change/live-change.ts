import { randomUUID } from "node:crypto";

import amqplib from "amqplib";

import { compile, type CompiledSystem } from "../../../src/index.ts";
import { drive } from "../drive.ts";
import type { Broker } from "../live.ts";
import { createManagement } from "../management.ts";
import type { Deployment } from "./registered.ts";

type Compiled = CompiledSystem<"rabbitmq">;

/** A virtual host where messages wait during a change of the deployment. */
export interface Waiting {
  /**
   * Publishes to every source. Each consumer of the first deployment must receive every message from then on, unless
   * its queue only drains in the given one.
   */
  readonly publish: (now?: Deployment) => Promise<void>;
  /**
   * Lets consumers fail each attempt until no message moves any more. Lists the messages that did not end in their
   * consumer's dead queue.
   *
   * @param now the final system, which the consumers run by
   * @param asked every system whose deployment was tried. A work queue that an update removed holds the messages since
   *   then
   */
  readonly unsettled: (now: Deployment, asked: readonly Deployment[]) => Promise<readonly string[]>;
  readonly dispose: () => Promise<void>;
}

const foreign = "foreign";

export function compiledOf({ system, version, strategy, strategies }: Deployment): Compiled {
  const compiled = compile(system, { broker: "rabbitmq", version, strategy, strategies });
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join("\n"));
  return compiled.value;
}

/** Puts messages into every queue of an existing deployment, and binds a foreign queue to its sources. */
export async function fill(broker: Broker, deployment: Deployment, perQueue: number): Promise<Waiting> {
  const { vhost } = deployment;
  const url = `${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${encodeURIComponent(vhost)}`;
  const management = createManagement(broker.managementUrl);
  const compiled = compiledOf(deployment);
  const { topology, contracts } = compiled;
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const returned: string[] = [];
  channel.on("return", (message: { readonly fields: { readonly exchange: string } }) => {
    returned.push(message.fields.exchange);
  });
  const owed = new Map<string, number>();
  const owe = (consumer: string, count: number): void => void owed.set(consumer, (owed.get(consumer) ?? 0) + count);
  const send = (exchange: string, key: string, mandatory: boolean): void =>
    void channel.publish(exchange, key, Buffer.from("an order"), {
      messageId: randomUUID(),
      persistent: true,
      mandatory,
    });
  const into = (queue: string): string => `test.${queue}`;
  await channel.assertQueue(foreign, { durable: true, arguments: { "x-queue-type": "quorum" } });
  let foreignOwed = 0;
  const sources = topology.exchanges.filter(({ role }) => role === "source");
  for (const { name } of sources) await channel.bindQueue(foreign, name, "order.placed");
  for (const { name, role, consumer } of topology.queues) {
    if (role === "undeliverable") continue;
    if (consumer !== null) {
      for (let index = 0; index < perQueue; index++) send("", name, true);
      owe(consumer, perQueue);
      continue;
    }
    // In a shared queue the routing key names the consumer, and the default exchange takes no such key.
    await channel.assertExchange(into(name), "fanout", { durable: false });
    await channel.bindQueue(name, into(name), "");
    const keys = topology.bindings.filter(({ source }) => source === `${topology.system}.again`);
    for (let index = 0; index < perQueue; index++) {
      const { routingKey, destination } = keys[index % keys.length] ?? {};
      const owner = topology.queues.find((queue) => queue.name === destination)?.consumer;
      if (routingKey === undefined || typeof owner !== "string") throw new Error(`nobody waits in ${name}`);
      send(into(name), routingKey, true);
      owe(owner, 1);
    }
  }
  await channel.waitForConfirms();

  const publish = async (now = deployment): Promise<void> => {
    const draining = new Set(
      compiledOf(now).contracts.flatMap(({ workQueue, sources: [first] }) =>
        first?.exchange === "" ? [workQueue] : [],
      ),
    );
    for (const { name } of sources) {
      for (let index = 0; index < perQueue; index++) send(name, "order.placed", index % 2 === 0);
      foreignOwed += perQueue;
      for (const { consumer, workQueue, sources: own } of contracts) {
        if (!draining.has(workQueue) && own.some(({ exchange }) => exchange === name)) owe(consumer, perQueue);
      }
    }
    await channel.waitForConfirms();
  };

  const unsettled = async (now: Deployment, asked: readonly Deployment[]): Promise<readonly string[]> => {
    const later = new Map(compiledOf(now).contracts.map((contract) => [contract.workQueue, contract]));
    const newWorkQueues = new Set(
      asked.flatMap((each) => compiledOf(each).contracts.map(({ workQueue }) => workQueue)),
    );
    const run = contracts.map((contract) => later.get(contract.workQueue) ?? contract);
    const consumers = await Promise.all(
      run.map(async (contract) => drive({ url, contract, decide: () => "transient", instances: 20 })),
    );
    const wanted = new Map(contracts.map((contract) => [String(contract.deadQueue), owed.get(contract.consumer) ?? 0]));
    let found = await problems();
    const deadline = Date.now() + 240_000;
    while (found.length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      found = await problems();
    }
    await Promise.all(consumers.map(async (consumer) => consumer.stop()));
    const most = Math.max(
      ...run.map(({ attempts }) => attempts.length),
      ...contracts.map(({ attempts }) => attempts.length),
    );
    const tooOften = consumers
      .flatMap(({ seen }) => [...Map.groupBy(seen, ({ id }) => id).values()])
      .filter((each) => each.length > most);
    return [...found, ...(tooOften.length === 0 ? [] : [`${tooOften.length} messages had more than ${most} attempts`])];

    async function problems(): Promise<readonly string[]> {
      const queues = await management.get<readonly QueueCounts[]>(`queues/${encodeURIComponent(vhost)}`);
      const counts = new Map(queues.map((each) => [each.name, each]));
      return [
        ...[...wanted].flatMap(([name, count]) => {
          const there = counts.get(name)?.messages ?? 0;
          return there === count ? [] : [`${name} has ${there} of ${count} dead letters`];
        }),
        ...queues.flatMap(({ name, messages = 0, messages_dlx: kept = 0 }) => [
          ...(kept > 0 ? [`${name} keeps ${kept} dead letters back`] : []),
          ...(messages > 0 && !wanted.has(name) && name !== foreign && !isNewConsumers(name)
            ? [`${name} holds ${messages}`]
            : []),
        ]),
        ...((counts.get(foreign)?.messages ?? 0) === foreignOwed
          ? []
          : [`${foreign} has ${counts.get(foreign)?.messages} of ${foreignOwed}`]),
        ...(returned.length === 0 ? [] : [`${returned.length} came back to their publisher`]),
      ];
    }

    function isNewConsumers(name: string): boolean {
      return newWorkQueues.has(name) && !contracts.some(({ workQueue }) => workQueue === name);
    }
  };
  return { publish, unsettled, dispose: async () => connection.close() };
}

interface QueueCounts {
  readonly name: string;
  readonly messages?: number;
  readonly messages_dlx?: number;
}
