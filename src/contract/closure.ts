import type { AnyContract } from "./contract.ts";
import { overlay } from "./overlay.ts";
import type { Model, Subject } from "../explore/model.ts";
import { type InPhase, subjectOfPhases } from "../explore/phases.ts";

interface Named {
  readonly name: string;
}

/** The part of a topology that messages of one consumer can reach, in the order of discovery. */
export interface Closure<Queue, Topic, Subscription> {
  readonly queues: readonly Queue[];
  readonly topics: readonly Topic[];
  /**
   * The subscriptions made for the consumer, with any destination. Other consumers have their own copies of a topic's
   * messages.
   */
  readonly subscriptions: readonly Subscription[];
}

/** A closure with all names of queues and topics that were looked up for it, whether they exist or not. */
export interface AskedClosure<Queue, Topic, Subscription> extends Closure<Queue, Topic, Subscription> {
  readonly asked: ReadonlySet<string>;
}

/** Lookup tables of one topology, built once for the closures of all its consumers. */
export interface TopologyIndex<Queue, Topic, Subscription> {
  readonly queues: ReadonlyMap<string, Queue>;
  readonly topics: ReadonlyMap<string, Topic>;
  readonly byConsumer: ReadonlyMap<string, readonly Subscription[]>;
}

function indexTopology<Queue extends Named, Topic extends Named, Subscription extends { consumer: string }>({
  queues,
  topics,
  subscriptions,
}: Closure<Queue, Topic, Subscription>): TopologyIndex<Queue, Topic, Subscription> {
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    topics: new Map(topics.map((topic) => [topic.name, topic])),
    byConsumer: Map.groupBy(subscriptions, ({ consumer }) => consumer),
  };
}

/** One contract on a topology, and the contract of instances that may be at work beside it. It may be the same one. */
type ProvedSide<Contract, Queue, Topic, Subscription> = readonly [
  index: TopologyIndex<Queue, Topic, Subscription>,
  contract: Contract,
  beside: Contract,
];

/** A system of a broker with topics and subscriptions. */
export interface CloudSystem<Contract, Queue, Topic, Subscription> {
  readonly topology: Closure<Queue, Topic, Subscription>;
  readonly contracts: readonly Contract[];
}

/**
 * Lists the consumers of systems and of changes, each for a proof by itself.
 *
 * @param keyOf tells subscriptions apart
 * @param of the shape and the model of one consumer on the topology of an index
 */
export function cloudSubjects<
  Contract extends AnyContract & { readonly workQueue: string },
  Queue extends Named,
  Topic extends Named,
  Subscription extends { readonly consumer: string },
  State,
>(
  keyOf: (subscription: Subscription) => string,
  of: {
    readonly shape: (...side: ProvedSide<Contract, Queue, Topic, Subscription>) => string;
    readonly model: (...side: ProvedSide<Contract, Queue, Topic, Subscription>) => Model<State>;
  },
) {
  type System = CloudSystem<Contract, Queue, Topic, Subscription>;
  type Side = ProvedSide<Contract, Queue, Topic, Subscription>;
  const subjectOn = (...[index, contract, beside]: Side): Subject<State> => ({
    consumer: contract.consumer,
    shape: () => of.shape(index, contract, beside),
    model: () => of.model(index, contract, beside),
  });
  const subjectsOf = ({ topology, contracts }: System): readonly Subject<State>[] => {
    const index = indexTopology(topology);
    return contracts.map((contract) => subjectOn(index, contract, contract));
  };
  /**
   * The consumers that are declared before and after a change, for a proof with messages in every place. First there is
   * the old topology alone. Afterwards there is the new one too, and the old resources that left it stay. Consumers by
   * both contracts may then be at work.
   */
  const changesOf = (
    { compiled: from }: { readonly compiled: System },
    { compiled: to }: { readonly compiled: System },
  ): readonly Subject<InPhase<State>>[] => {
    const old = indexTopology(from.topology);
    const both = indexTopology({
      queues: overlay(from.topology.queues, to.topology.queues, ({ name }) => name),
      topics: overlay(from.topology.topics, to.topology.topics, ({ name }) => name),
      subscriptions: overlay(from.topology.subscriptions, to.topology.subscriptions, keyOf),
    });
    const contracts = new Map(from.contracts.map((contract) => [contract.consumer, contract]));
    return to.contracts.flatMap((after) => {
      const before = contracts.get(after.consumer);
      // Under another name the new queue begins empty, and the old one stays as it is.
      if (before === undefined || before.workQueue !== after.workQueue) return [];
      return [
        subjectOfPhases(after.consumer, [
          { name: "before", subjects: [subjectOn(old, before, before)] },
          { name: "after the deployment", subjects: [subjectOn(both, before, after), subjectOn(both, after, before)] },
        ]),
      ];
    });
  };
  return { subjectsOf, changesOf };
}

/**
 * Finds the consumers that a change of a topology can concern, for the proofs of these alone. Each of them looked for a
 * resource that differs, or has a subscription that does. The others find the same topology as before.
 */
export function concernedIn<
  Contract extends { readonly consumer: string },
  Queue extends Named,
  Topic extends Named,
  Subscription extends { readonly consumer: string },
>(closureOf: (...side: ProvedSide<Contract, Queue, Topic, Subscription>) => AskedClosure<Queue, Topic, Subscription>) {
  return ({ topology: before, contracts }: CloudSystem<Contract, Queue, Topic, Subscription>) => {
    const index = indexTopology(before);
    const asking = Map.groupBy(
      contracts.flatMap((contract) =>
        [...closureOf(index, contract, contract).asked].map((name) => ({ name, contract })),
      ),
      ({ name }) => name,
    );
    return (after: typeof before): readonly Contract[] => {
      const different: readonly Named[] = [
        ...exclusive(before.queues, after.queues),
        ...exclusive(before.topics, after.topics),
      ];
      const owners = new Set(exclusive(before.subscriptions, after.subscriptions).map(({ consumer }) => consumer));
      const asked = new Set(different.flatMap(({ name }) => (asking.get(name) ?? []).map(({ contract }) => contract)));
      return contracts.filter((contract) => asked.has(contract) || owners.has(contract.consumer));
    };
  };
}

/** The members of only one of two lists. */
function exclusive<Member>(left: readonly Member[], right: readonly Member[]): readonly Member[] {
  const [inLeft, inRight] = [new Set(left), new Set(right)];
  return [...left.filter((each) => !inRight.has(each)), ...right.filter((each) => !inLeft.has(each))];
}

/**
 * The queues that messages reach from some of them, in the order of discovery.
 *
 * @param leadsTo the names that the broker moves messages of a queue to
 * @returns them with all names that were looked up
 */
export function queuesFrom<Queue extends object>(
  names: readonly string[],
  queues: ReadonlyMap<string, Queue>,
  leadsTo: (queue: Queue) => readonly string[],
): { readonly queues: readonly Queue[]; readonly asked: ReadonlySet<string> } {
  const asked = new Set(names);
  const reached: Queue[] = [];
  // The loop also visits the names that it adds to the set.
  for (const name of asked) {
    const queue = queues.get(name);
    if (queue === undefined) continue;
    reached.push(queue);
    for (const next of leadsTo(queue)) asked.add(next);
  }
  return { queues: reached, asked };
}
