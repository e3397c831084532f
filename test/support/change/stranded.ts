import type { BrokerTopology, MessageState, Semantics } from "../../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsOf, type SemanticsVersion } from "../../../src/brokers/rabbitmq/prove/semantics.ts";
import type { Topology } from "../../../src/index.ts";

/** A publisher's message, and the work queue that it must reach. */
export interface Promised {
  readonly exchange: string;
  readonly routingKey: string;
  readonly workQueue: string;
}

/** The facts about a virtual host beside its present state. */
export interface Expected {
  /** Every topology that was or should have been deployed to it. */
  readonly topologies: readonly Topology[];
  /** The topologies that consumers have run by. */
  readonly settled: readonly Topology[];
  /** The queues that may hold messages. Queues that a message can reach now are added. */
  readonly holding: Set<string>;
  readonly promised: readonly Promised[];
}

/** The messages that would be lost, stuck, doubled or astray on the present broker, each as a sentence. */
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
  const keys = keysOf(expected.settled);
  const attempts = expected.settled.flatMap(({ exchanges }) =>
    exchanges.flatMap(({ name, role }) => (role === "attempt" ? [name] : [])),
  );
  const context: Context = { semantics, known, keys, attempts: [...new Set(attempts)] };
  return [
    ...gone,
    // The loop also visits the queues that it adds.
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
  /** By consumer, the keys of its waiting messages in all topologies, each with its system. */
  readonly keys: ReadonlyMap<string, readonly WaitingKey[]>;
  /** The exchanges that messages of further attempts came through. */
  readonly attempts: readonly string[];
}

interface WaitingKey {
  readonly system: string;
  readonly key: string;
}

/** By consumer, the keys that bring a waiting message back to it. */
function keysOf(topologies: readonly Topology[]): ReadonlyMap<string, readonly WaitingKey[]> {
  const pairs = topologies.flatMap(({ system, exchanges, queues, bindings }) => {
    const back = new Set(exchanges.filter(({ role }) => role === "again").map(({ name }) => name));
    const consumers = new Map(queues.map(({ name, consumer }) => [name, consumer]));
    return bindings.flatMap(({ source, destination, routingKey }) => {
      const consumer = consumers.get(destination) ?? null;
      return back.has(source) && consumer !== null ? [[consumer, { system, key: routingKey }] as const] : [];
    });
  });
  const grouped = Map.groupBy(pairs, ([consumer]) => consumer);
  return new Map([...grouped].map(([consumer, own]) => [consumer, own.map(([, key]) => key)]));
}

/** A message in a queue must be able to leave it, to one place, and that place must belong to its own consumer. */
function wayOutOf({ semantics, known, keys, attempts }: Context, name: string, holding: Set<string>): string[] {
  const queue = known.get(name);
  if (queue === undefined) return [];
  const ends = (message: MessageState, isDue: boolean, consumer: string, how: string): string[] =>
    endsWell(
      { semantics, known, holding },
      name,
      isDue ? expired(semantics, message) : rejected(semantics, message),
      consumer,
      how,
    );
  switch (queue.role) {
    case "dead":
    case "undeliverable":
      return [];
    case "work": {
      const consumer = queue.consumer ?? "";
      const own = keys.get(consumer)?.map(({ key }) => key) ?? [];
      return ["order.placed", ...new Set(own)].flatMap((key) =>
        ["", ...(key.startsWith("order.") ? [] : attempts)].flatMap((exchange) =>
          ends(lying(semantics, name, key, exchange), false, consumer, `rejected with the key ${key} from ${exchange}`),
        ),
      );
    }
    case "tier":
    case "wait":
      return [...keys]
        .flatMap(([consumer, own]) => own.map((each) => [consumer, each] as const))
        .flatMap(([consumer, { system, key }]) => {
          // A consumer's message can only be in the queues of its own system and strategy.
          const start = `${system}.${queue.role === "tier" ? "attempt" : "wait"}.`;
          return name.startsWith(start) && key.startsWith("redeliver:") === (queue.role === "wait")
            ? ends(lying(semantics, name, key, ""), true, consumer, `due with the key ${key}`)
            : [];
        });
    default:
      return queue.role satisfies never;
  }
}

/** A message in a queue, with a key and an exchange. A client publishes it to the queue, and the test then sets these. */
function lying(semantics: Semantics, queue: string, routingKey: string, exchange: string): MessageState {
  const [[state] = []] = semantics.publish({ exchange: "", routingKey: queue });
  if (state === undefined) throw new Error(`${queue} takes no message`);
  return { ...state, routingKeys: [routingKey], exchange };
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
  // A consumer that was removed may come back with another name for its dead queue. The old queue stays bound, so it
  // gets each letter, too. A dead queue of a consumer that stays keeps its name: RD302.
  const isOldDeadLetter = ({ place }: MessageState): boolean => {
    const to = place.kind === "queue" ? known.get(place.queue) : undefined;
    return to?.role === "dead" && to.consumer === consumer;
  };
  return outcomes.flatMap((states) => {
    if (states.length !== 1 && !states.every(isOldDeadLetter)) return [`${at} becomes ${states.length}`];
    return states.flatMap(({ place }) => {
      if (place.kind !== "queue") return [`${at} is ${place.kind}`];
      if (place.status === "retained") return [`${at} is kept inside ${place.queue}`];
      const to = known.get(place.queue);
      if (to?.consumer !== consumer && to?.role !== "tier") return [`${at} comes to ${place.queue}`];
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
