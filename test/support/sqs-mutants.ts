import type { CompiledSystem } from "../../src/index.ts";

type Sqs = CompiledSystem<"sqs">;
type Topology = Sqs["topology"];
type Queue = Topology["queues"][number];
type Subscription = Topology["subscriptions"][number];
type Contract = Sqs["contracts"][number];

/** A compiled system with one broken part of the consumer billing. */
export interface SqsMutant {
  readonly name: string;
  readonly compiled: Sqs;
}

/** Every way that a person might break the resources of the consumer billing, or its code. */
export function sqsMutantsOf(compiled: Sqs): readonly SqsMutant[] {
  return [
    ...topologyMutants(compiled.topology).map(({ name, topology }) => ({ name, compiled: { ...compiled, topology } })),
    ...contractMutants(compiled.contracts).map(({ name, contracts }) => ({
      name,
      compiled: { ...compiled, contracts },
    })),
  ];
}

interface TopologyMutant {
  readonly name: string;
  readonly topology: Topology;
}

function topologyMutants(topology: Topology): readonly TopologyMutant[] {
  const ours = topology.queues.filter(({ consumer }) => consumer === "billing");
  const byRole = (role: Queue["role"]): Queue => ours.find((queue) => queue.role === role) as Queue;
  const [work, dead, undelivered] = [byRole("work"), byRole("dead"), byRole("undelivered")];
  const changed = (
    what: string,
    queue: Queue,
    change: Partial<Queue>,
    more: readonly Queue[] = [],
  ): TopologyMutant => ({
    name: `${what} of the ${queue.role} queue`,
    topology: {
      ...topology,
      queues: [...topology.queues.map((each) => (each === queue ? { ...queue, ...change } : each)), ...more],
    },
  });
  const second: Queue = {
    ...dead,
    name: `second-${dead.name}`,
    redriveAllow: { permission: "byQueue", sourceQueues: [dead.name] },
  };
  const shipping = topology.queues.filter(({ consumer }) => consumer === "shipping");
  const foreign = shipping.find(({ role }) => role === "dead") as Queue;
  const redrive = work.redrive as NonNullable<Queue["redrive"]>;
  const to = (deadQueue: string, maxReceiveCount = redrive.maxReceiveCount): Partial<Queue> => ({
    redrive: { deadQueue, maxReceiveCount },
  });
  const open = { permission: "byQueue", sourceQueues: [work.name, dead.name] } as const;
  return [
    ...ours.map((queue) => ({
      name: `without the ${queue.role} queue`,
      topology: { ...topology, queues: topology.queues.filter((each) => each !== queue) },
    })),
    changed("no redrive", work, { redrive: null }),
    changed("a dead queue that is not there", work, to("nowhere")),
    changed("another consumer's dead queue", work, to(foreign.name)),
    {
      name: "another consumer's dead queue, which allows it",
      topology: {
        ...topology,
        queues: topology.queues.map((each) =>
          each === work
            ? { ...work, ...to(foreign.name) }
            : each === foreign
              ? { ...foreign, redriveAllow: { permission: "byQueue", sourceQueues: [work.name] } as const }
              : each,
        ),
      },
    },
    changed("the undelivered queue as dead queue", work, to(undelivered.name)),
    changed("itself as dead queue", work, { ...to(work.name), redriveAllow: open }),
    changed("one receive more", work, to(dead.name, redrive.maxReceiveCount + 1)),
    changed("one receive less", work, to(dead.name, redrive.maxReceiveCount - 1)),
    changed("a visibility timeout 1 s longer", work, { visibilityTimeoutSeconds: work.visibilityTimeoutSeconds + 1 }),
    changed("a visibility timeout 1 s shorter", work, { visibilityTimeoutSeconds: work.visibilityTimeoutSeconds - 1 }),
    changed("a visibility timeout below the handler's", work, { visibilityTimeoutSeconds: 29 }),
    changed("a visibility timeout of 0", work, { visibilityTimeoutSeconds: 0 }),
    changed("a visibility timeout of 12 h", work, { visibilityTimeoutSeconds: 43_200 }),
    changed("a retention of 60 s", work, { retentionSeconds: 60 }),
    changed("a retention of 14 days", work, { retentionSeconds: 1_209_600 }),
    changed("a delay of 15 min", work, { delaySeconds: 900 }),
    changed("the other type", work, { fifo: !work.fifo }),
    changed("no topic may send", work, { sendersTopics: [] }),
    changed("no long polling", work, { receiveWaitSeconds: 0 }),
    changed("no queue may dead-letter to it", dead, { redriveAllow: { permission: "denyAll" } }),
    changed("only another queue may dead-letter to it", dead, {
      redriveAllow: { permission: "byQueue", sourceQueues: [foreign.name] },
    }),
    changed("a retention of 60 s", dead, { retentionSeconds: 60 }),
    changed("the other type", dead, { fifo: !dead.fifo }),
    changed("a delay of 15 min", dead, { delaySeconds: 900 }),
    changed("a visibility timeout of 0", dead, { visibilityTimeoutSeconds: 0 }),
    {
      name: "a cycle: back from the dead queue",
      topology: {
        ...topology,
        queues: topology.queues.map((each) =>
          each === dead ? { ...dead, ...to(work.name) } : each === work ? { ...work, redriveAllow: open } : each,
        ),
      },
    },
    changed("a redrive back that the work queue denies", dead, to(work.name)),
    changed("a chain: on from the dead queue", dead, to(second.name), [second]),
    changed("itself as dead queue", dead, { ...to(dead.name), redriveAllow: open }),
    changed("no topic may send", undelivered, { sendersTopics: [] }),
    changed("the other type", undelivered, { fifo: !undelivered.fifo }),
    changed("a retention of 60 s", undelivered, { retentionSeconds: 60 }),
    ...subscriptionMutants(topology, shipping),
  ];
}

function subscriptionMutants(topology: Topology, shipping: readonly Queue[]): readonly TopologyMutant[] {
  const own = topology.subscriptions.filter(({ consumer }) => consumer === "billing");
  const others = (role: Queue["role"]): string => shipping.find((queue) => queue.role === role)?.name ?? "";
  const also = (name: string, more: Subscription): TopologyMutant => ({
    name,
    topology: { ...topology, subscriptions: [...topology.subscriptions, more] },
  });
  return [
    ...topology.topics.flatMap((topic) => [
      { name: `without the topic ${topic.source}`, topology: without(topology, topic.name) },
      {
        name: `the topic ${topic.source} of the other type`,
        topology: {
          ...topology,
          topics: topology.topics.map((each) => (each === topic ? { ...topic, fifo: !topic.fifo } : each)),
        },
      },
    ]),
    ...own.flatMap((subscription) => {
      const changed = (what: string, change: Partial<Subscription>): TopologyMutant => ({
        name: `${what}: ${subscription.topic}`,
        topology: {
          ...topology,
          subscriptions: topology.subscriptions.map((each) =>
            each === subscription ? { ...subscription, ...change } : each,
          ),
        },
      });
      const values = subscription.filterPolicy?.["routing-key"] ?? [];
      const filter = (filterPolicy: Subscription["filterPolicy"]): Partial<Subscription> => ({ filterPolicy });
      return [
        {
          name: `no subscription: ${subscription.topic}`,
          topology: { ...topology, subscriptions: topology.subscriptions.filter((each) => each !== subscription) },
        },
        changed("a subscription to another consumer's queue", { queue: others("work") }),
        also(`a second subscription, to another consumer's queue: ${subscription.topic}`, {
          ...subscription,
          queue: others("work"),
        }),
        also(`another consumer's messages, too: ${subscription.topic}`, {
          ...(topology.subscriptions.find(({ consumer }) => consumer === "shipping") as Subscription),
          queue: subscription.queue,
        }),
        changed("no queue for undelivered messages", { deadQueue: "nowhere" }),
        changed("a subscription to a queue that is not there", { queue: "nowhere" }),
        changed("a filter on another attribute", filter({ key: values })),
        changed("a filter on one attribute more", filter({ ...subscription.filterPolicy, region: ["eu"] })),
        changed("a filter with an unknown operator", filter({ "routing-key": [{ cidr: "10.0.0.0/24" }] })),
        ...(values.length === 0 ? [] : [changed("no filter", filter(null))]),
        ...values.flatMap((value, index) => [
          changed(`a filter without ${JSON.stringify(value)}`, filter({ "routing-key": values.toSpliced(index, 1) })),
          changed(
            `a filter with a beginning for ${JSON.stringify(value)}`,
            filter({ "routing-key": values.with(index, { prefix: "order." }) }),
          ),
        ]),
        ...(values.length === 0
          ? []
          : [changed("a filter with a key more", filter({ "routing-key": [...values, "order.cancelled"] }))]),
      ];
    }),
  ];
}

function without(topology: Topology, topic: string): Topology {
  return {
    ...topology,
    topics: topology.topics.filter(({ name }) => name !== topic),
    subscriptions: topology.subscriptions.filter((each) => each.topic !== topic),
  };
}

function contractMutants(contracts: readonly Contract[]): readonly { name: string; contracts: readonly Contract[] }[] {
  const billing = contracts.find(({ consumer }) => consumer === "billing") as Contract;
  const { outcomes } = billing;
  const operations = "byAttempt" in outcomes.permanent ? [] : outcomes.permanent;
  const changed = (name: string, change: Partial<Contract["outcomes"]>) => ({
    name: `the contract: ${name}`,
    contracts: contracts.map((each) =>
      each === billing ? { ...billing, outcomes: { ...outcomes, ...change } } : each,
    ),
  });
  const shifted = (outcome: Contract["outcomes"]["transient"], seconds: number): Contract["outcomes"]["transient"] => {
    const shift = (operation: (typeof operations)[number]): (typeof operations)[number] =>
      operation.operation === "ChangeMessageVisibility" && operation.visibilityTimeoutSeconds !== "asked"
        ? {
            ...operation,
            visibilityTimeoutSeconds: {
              from: operation.visibilityTimeoutSeconds.from + seconds,
              to: operation.visibilityTimeoutSeconds.to + seconds,
            },
          }
        : operation;
    return "byAttempt" in outcome
      ? { byAttempt: outcome.byAttempt.map((each) => each.map(shift)) }
      : outcome.map(shift);
  };
  const visible = [{ operation: "ChangeMessageVisibility", visibilityTimeoutSeconds: { from: 0, to: 0 } }] as const;
  return [
    changed("a transient failure 1 s later", { transient: shifted(outcomes.transient, 1) }),
    changed("a transient failure 12 h later", { transient: shifted(outcomes.transient, 43_200) }),
    changed("a transient failure deletes", { transient: [{ operation: "DeleteMessage" }] }),
    changed("a transient failure does nothing", { transient: [] }),
    changed("a transient failure is visible at once", { transient: visible }),
    changed("a permanent failure is retried", { permanent: outcomes.transient }),
    changed("a permanent failure deletes alone", { permanent: [{ operation: "DeleteMessage" }] }),
    changed("a permanent failure deletes first", { permanent: operations.toReversed() }),
    changed("a permanent failure sends alone", { permanent: operations.slice(0, 1) }),
    changed("a permanent failure sends to a queue that is not there", {
      permanent: operations.map((each) => (each.operation === "SendMessage" ? { ...each, queue: "nowhere" } : each)),
    }),
    changed("a success does nothing", { success: [] }),
    {
      name: "the contract: publishers may give a message one attribute more",
      contracts: contracts.map((each) =>
        each === billing ? { ...billing, sources: billing.sources.map(withOneMore) } : each,
      ),
    },
  ];
}

function withOneMore(source: Contract["sources"][number]): Contract["sources"][number] {
  return { ...source, most: { ...source.most, messageAttributes: source.most.messageAttributes + 1 } };
}
