import type { BrokerTopology, MessageState, Semantics } from "../../../src/brokers/rabbitmq/semantics.ts";
import { semanticsOf } from "../../../src/brokers/rabbitmq/semantics.ts";
import type { SemanticsVersion } from "../../../src/brokers/rabbitmq/semantics.ts";
import type { Topology } from "../../../src/index.ts";

/** A publisher's message and the work queue that it has to reach. */
export interface Promised {
  readonly exchange: string;
  readonly routingKey: string;
  readonly workQueue: string;
}

/** What is known of a virtual host beside what is there now. */
export interface Expected {
  /** Every topology that was ever deployed to it, or was to be. */
  readonly topologies: readonly Topology[];
  /** Those by which consumers ever ran. */
  readonly settled: readonly Topology[];
  /** The queues in which messages may lie. Those are added that a message can come to now. */
  readonly holding: Set<string>;
  readonly promised: readonly Promised[];
}

/** The messages that would be lost, stuck, doubled or astray with what is on the broker now, each as a sentence. */
export function strandedOn(broker: BrokerTopology, expected: Expected, version: SemanticsVersion): readonly string[] {
  const semantics = semanticsOf(broker, version);
  const known = new Map(
    expected.topologies.flatMap(({ queues }) => queues.map((queue) => [queue.name, queue] as const)),
  );
  const there = new Set(broker.queues.map(({ name }) => name));
  for (const { source, destination, destinationKind } of broker.bindings) {
    if (destinationKind === "queue" && isSource(expected, source) && known.has(destination))
      expected.holding.add(destination);
  }
  const gone = [...expected.holding].filter((name) => !there.has(name)).map((name) => `${name} is gone`);
  const keys = attemptKeysOf(expected.settled, false);
  const sharedKeys = attemptKeysOf(expected.settled, true);
  const context: Context = { semantics, known, keys, sharedKeys };
  return [
    ...gone,
    // What is added while they are looked at is looked at, too.
    ...Array.from(wayOutOfAll(context, expected.holding, there)),
    ...expected.promised.flatMap((promised) => wayIn(context, promised)),
  ];
}

function* wayOutOfAll(context: Context, holding: Set<string>, there: ReadonlySet<string>): Iterable<string> {
  for (const name of holding) if (there.has(name)) yield* wayOutOf(context, name, holding);
}

function isSource({ topologies }: Expected, exchange: string): boolean {
  return topologies.some(({ exchanges }) => exchanges.some(({ name, role }) => name === exchange && role === "source"));
}

interface Context {
  readonly semantics: Semantics;
  readonly known: ReadonlyMap<string, Topology["queues"][number]>;
  /** By consumer, the keys of all attempts that there ever were. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  /** The same of those whose messages wait in shared queues. */
  readonly sharedKeys: ReadonlyMap<string, readonly string[]>;
}

/** By consumer, the keys of its attempts: those that its tiers write, and those by which shared waits bring it back. */
function attemptKeysOf(topologies: readonly Topology[], isShared: boolean): ReadonlyMap<string, readonly string[]> {
  const pairs = topologies.flatMap(({ exchanges, queues, bindings }): (readonly [string | null, unknown])[] => {
    const shared = new Set(
      exchanges.filter(({ role, consumer }) => role === "again" && consumer === null).map(({ name }) => name),
    );
    const back = bindings.filter(({ source }) => shared.has(source));
    const consumers = new Map(queues.map(({ name, consumer }) => [name, consumer]));
    return [
      ...back.map(({ destination, routingKey }) => [consumers.get(destination) ?? null, routingKey] as const),
      ...(isShared ? [] : queues.map((each) => [each.consumer, each.arguments["x-dead-letter-routing-key"]] as const)),
    ];
  });
  const keyed = pairs.flatMap(([consumer, key]) =>
    consumer === null || typeof key !== "string" ? [] : [[consumer, key] as const],
  );
  const grouped = Map.groupBy(keyed, ([consumer]) => consumer);
  return new Map([...grouped].map(([consumer, own]) => [consumer, [...new Set(own.map(([, key]) => key))]]));
}

/** A message that lies in a queue has to be able to leave it, to one place, and that has to be its own consumer's. */
function wayOutOf({ semantics, known, keys, sharedKeys }: Context, name: string, holding: Set<string>): string[] {
  const queue = known.get(name);
  if (queue === undefined) return [];
  const consumersKeys = (consumer: string): [string, string][] =>
    (keys.get(consumer) ?? []).map((key) => [consumer, key]);
  switch (queue.role) {
    case "dead":
    case "undeliverable":
      return [];
    case "work":
      return [[queue.consumer ?? "", "order.placed"] as const, ...consumersKeys(queue.consumer ?? "")].flatMap(
        ([consumer, key]) =>
          endsWell(
            { semantics, known, holding },
            name,
            rejected(semantics, lying(semantics, name, key)),
            consumer,
            `rejected with the key ${key}`,
          ),
      );
    case "tier":
      return endsWell(
        { semantics, known, holding },
        name,
        expired(semantics, lying(semantics, name, name)),
        queue.consumer ?? "",
        "due",
      );
    case "wait":
      return [...sharedKeys]
        .flatMap(([consumer, own]) => own.map((key) => [consumer, key] as const))
        .flatMap(([consumer, key]) => {
          // A consumer's message can be in the queues of its own system alone.
          if (!key.startsWith(`redeliver:${name.split(".wait.")[0] ?? ""}.`)) return [];
          return endsWell(
            { semantics, known, holding },
            name,
            expired(semantics, lying(semantics, name, key)),
            consumer,
            `due with the key ${key}`,
          );
        });
    default:
      return queue.role satisfies never;
  }
}

/** A message in a queue with a key of its own: published to the queue, and then with that key. */
function lying(semantics: Semantics, queue: string, routingKey: string): MessageState {
  const [[state] = []] = semantics.publish({ exchange: "", routingKey: queue });
  if (state === undefined) throw new Error(`${queue} takes no message`);
  return { ...state, routingKeys: [routingKey] };
}

function expired(semantics: Semantics, state: MessageState): readonly (readonly MessageState[])[] {
  return semantics.step(state, { kind: "expire" });
}

function rejected(semantics: Semantics, state: MessageState): readonly (readonly MessageState[])[] {
  return semantics
    .step(state, { kind: "deliver" })
    .flatMap((states) => states.flatMap((each) => semantics.step(each, { kind: "nack", requeue: false })));
}

function endsWell(
  { semantics, known, holding }: Pick<Context, "semantics" | "known"> & { readonly holding: Set<string> },
  queue: string,
  outcomes: readonly (readonly MessageState[])[],
  consumer: string,
  how: string,
): string[] {
  const at = `a message in ${queue}, ${how},`;
  if (outcomes.length === 0) return [`${at} stays there for ever`];
  return outcomes.flatMap((states) => {
    if (states.length !== 1) return [`${at} becomes ${states.length}`];
    return states.flatMap(({ place }) => {
      if (place.kind !== "queue") return [`${at} is ${place.kind}`];
      if (place.status === "retained") return [`${at} is kept inside ${place.queue}`];
      const to = known.get(place.queue);
      if (to?.consumer !== consumer) return [`${at} comes to ${place.queue}`];
      holding.add(place.queue);
      return semantics.settings(place.queue) === null ? [`${at} comes to a queue that is gone`] : [];
    });
  });
}

function wayIn({ semantics }: Context, { exchange, routingKey, workQueue }: Promised): string[] {
  const arrived = semantics
    .publish({ exchange, routingKey })
    .flat()
    .filter(({ place }) => place.kind === "queue" && place.queue === workQueue);
  return arrived.length === 1 ? [] : [`${exchange} with ${routingKey} reaches ${workQueue} ${arrived.length} times`];
}
