import { randomUUID } from "node:crypto";

import amqplib from "amqplib";

import { compile, type CompiledSystem } from "../../../src/index.ts";
import { drive, type Seen } from "../drive.ts";
import type { Broker } from "../live.ts";
import { createManagement } from "../management.ts";
import type { Deployment } from "./registered.ts";

type Compiled = CompiledSystem<"rabbitmq">;

/** A virtual host where messages wait during a change of the deployment. */
export interface Waiting {
  /**
   * Publishes to every source of the first deployment and of the given one. Each consumer of the first must receive
   * every message from then on, if its queue takes from that source in the given one.
   */
  readonly publish: (now?: Deployment) => Promise<void>;
  /**
   * Lets consumers fail each attempt until no message moves any more. Lists the messages that did not end in their
   * consumer's dead queue.
   *
   * @param now the final system, which the consumers run by
   * @param asked every system whose deployment was tried. A work queue that an update removed holds the messages since
   *   then
   * @param earlier the attempts before the broker stopped, by work queue. It dead-letters at least once, so a message
   *   that moved then may come twice. None may begin again
   */
  readonly unsettled: (
    now: Deployment,
    asked: readonly Deployment[],
    earlier?: ReadonlyMap<string | null, readonly Seen[]>,
  ) => Promise<readonly string[]>;
  readonly dispose: () => Promise<void>;
}

const foreign = "foreign";

export function compiledOf({ system, version, strategy, strategies, since, deadQueue }: Deployment): Compiled {
  const compiled = compile(system, { broker: "rabbitmq", version, strategy, strategies, since, deadQueue });
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
  /** The ids of the messages that each consumer must get. */
  const owed = new Map(contracts.map(({ consumer }) => [consumer, new Set<string>()]));
  const send = (exchange: string, key: string, mandatory: boolean, consumers: readonly string[]): void => {
    const messageId = randomUUID();
    channel.publish(exchange, key, Buffer.from("an order"), { messageId, persistent: true, mandatory });
    for (const consumer of consumers) owed.get(consumer)?.add(messageId);
  };
  const into = (queue: string): string => `test.${queue}`;
  await channel.assertQueue(foreign, { durable: true, arguments: { "x-queue-type": "quorum" } });
  let foreignOwed = 0;
  const foreignTo = new Set(topology.exchanges.flatMap(({ name, role }) => (role === "source" ? [name] : [])));
  for (const name of foreignTo) await channel.bindQueue(foreign, name, "order.placed");
  for (const { name, role, consumer } of topology.queues) {
    if (role === "undeliverable") continue;
    if (consumer !== null) {
      for (let index = 0; index < perQueue; index++) send("", name, true, [consumer]);
      continue;
    }
    // In a shared queue the routing key names the consumer, and the default exchange takes no such key.
    await channel.assertExchange(into(name), "fanout", { durable: false });
    await channel.bindQueue(name, into(name), "");
    const keys = topology.bindings.filter(({ source, destination, destinationKind }) =>
      role === "dead" ? destinationKind === "queue" && destination === name : source === `${topology.system}.again`,
    );
    for (let index = 0; index < perQueue; index++) {
      const { routingKey, destination } = keys[index % keys.length] ?? {};
      // A dead letter has the name of its work queue as its key.
      const work = role === "dead" ? routingKey : destination;
      const owner = topology.queues.find((queue) => queue.name === work)?.consumer;
      if (routingKey === undefined || typeof owner !== "string") throw new Error(`nobody waits in ${name}`);
      send(into(name), routingKey, true, [owner]);
    }
  }
  await channel.waitForConfirms();

  const publish = async (now = deployment): Promise<void> => {
    const later = compiledOf(now);
    const current = new Map(later.contracts.map(({ workQueue, sources: own }) => [workQueue, own]));
    const inForce = later.topology.exchanges.flatMap(({ name, role }) => (role === "source" ? [name] : []));
    for (const name of new Set([...foreignTo, ...inForce])) {
      const takers = contracts
        .filter(({ workQueue, sources: own }) =>
          (current.get(workQueue) ?? own).some(({ exchange }) => exchange === name),
        )
        .map(({ consumer }) => consumer);
      for (let index = 0; index < perQueue; index++) send(name, "order.placed", index % 2 === 0, takers);
      if (foreignTo.has(name)) foreignOwed += perQueue;
    }
    await channel.waitForConfirms();
  };

  const unsettled: Waiting["unsettled"] = async (now, asked, earlier) => {
    const later = new Map(compiledOf(now).contracts.map((contract) => [contract.workQueue, contract]));
    const newWorkQueues = new Set(
      asked.flatMap((each) => compiledOf(each).contracts.map(({ workQueue }) => workQueue)),
    );
    const run = contracts.map((contract) => later.get(contract.workQueue) ?? contract);
    const consumers = await Promise.all(
      run.map(async (contract) => drive({ url, contract, decide: () => "transient", instances: 20 })),
    );
    const wanted = Map.groupBy(
      contracts.flatMap(({ deadQueue, consumer }) =>
        [...(owed.get(consumer) ?? [])].map((id) => ({ deadQueue: String(deadQueue), id })),
      ),
      ({ deadQueue }) => deadQueue,
    );
    let found = await problems();
    const deadline = Date.now() + Math.max(240_000, 1_000 * perQueue);
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
    if (earlier !== undefined) {
      const pairs = consumers.map(
        ({ seen }, index) => [earlier.get(run[index]?.workQueue ?? null) ?? [], seen] as const,
      );
      return [...found, ...(await lost()), ...pairs.flatMap(([before, after]) => begunAgain(before, after))];
    }
    return [...found, ...(tooOften.length === 0 ? [] : [`${tooOften.length} messages had more than ${most} attempts`])];

    async function problems(): Promise<readonly string[]> {
      const queues = await management.get<readonly QueueCounts[]>(`queues/${encodeURIComponent(vhost)}`);
      const counts = new Map(queues.map((each) => [each.name, each]));
      return [
        ...[...wanted].flatMap(([name, { length: size }]) => {
          const there = counts.get(name)?.messages ?? 0;
          return there === size || (earlier !== undefined && there > size)
            ? []
            : [`${name} has ${there} of ${size} dead letters`];
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

    async function lost(): Promise<readonly string[]> {
      const reader = await amqplib.connect(url);
      const letters = await reader.createChannel();
      const missing: string[] = [];
      for (const [queue, owing] of wanted) {
        const there = new Set<unknown>();
        for (let got = await letters.get(queue); got !== false; got = await letters.get(queue))
          there.add(got.properties.messageId);
        const gone = owing.filter(({ id }) => !there.has(id));
        if (gone.length > 0) missing.push(`${queue} lacks ${gone.length} of ${owing.length} messages`);
      }
      await reader.close();
      return missing;
    }

    function isNewConsumers(name: string): boolean {
      return newWorkQueues.has(name) && !contracts.some(({ workQueue }) => workQueue === name);
    }
  };
  return { publish, unsettled, dispose: async () => connection.close() };
}

/** The messages whose first attempt after a stop is below their last one before it. */
function begunAgain(before: readonly Seen[], after: readonly Seen[]): readonly string[] {
  const last = new Map(before.map(({ id, attempt }) => [id, attempt]));
  const first = new Map(after.toReversed().map(({ id, attempt }) => [id, attempt]));
  const again = [...first].filter(([id, attempt]) => attempt < (last.get(id) ?? 1));
  return again.length === 0 ? [] : [`${again.length} messages began again`];
}

interface QueueCounts {
  readonly name: string;
  readonly messages?: number;
  readonly messages_dlx?: number;
}
