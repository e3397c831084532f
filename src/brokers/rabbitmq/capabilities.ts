/** The RabbitMQ series that have been studied, oldest first. */
export const versions = ["3.10", "3.11", "3.12", "3.13", "4.0", "4.1", "4.2", "4.3"] as const;
export type RabbitmqVersion = (typeof versions)[number];

/** What one series of RabbitMQ does, as far as retries depend on it. */
export interface RabbitmqCapabilities {
  /**
   * Whether routing can tell why a message died last (`x-last-death-reason`). Up to 3.12 only its first death is visible, and the
   * cycle rule looks at death records whose order changes with every death: a message that fails, crashes to the limit and fails
   * again is then taken for a cycle and kept for ever. Source: `rabbit_dead_letter:make_msg/5`, `group_by_queue_and_reason/1`
   * (3.12), `mc:record_death/4` (3.13); measured in docs/broker-facts.md.
   */
  readonly routesByLastDeath: boolean;
  /**
   * Whether a message handed back with `basic.nack(requeue=true)` counts towards the delivery limit.
   * Source: `rabbit_fifo:return_one`; 4.3 release notes; docs "When is delivery count incremented?".
   */
  readonly returnsCount: boolean;
  /**
   * Whether the count of failed deliveries stays with a message that is dead-lettered from one quorum queue to another.
   * Source: `rabbit_fifo:maybe_set_msg_delivery_count` (4.3).
   */
  readonly deliveryCountSurvivesDeadLettering: boolean;
  /**
   * The argument value that switches off the delivery limit of 20 that quorum queues have by default; null where there is
   * no default limit. Before 4.0 a negative value means "dead after one delivery".
   * Source: `rabbit_quorum_queue.erl` DEFAULT_DELIVERY_LIMIT.
   */
  readonly unlimitedDeliveryLimit: -1 | null;
  /**
   * The first patch release in which a policy can switch on delayed retry in quorum queues; null where none can.
   * Source: rabbitmq-server#16394.
   */
  readonly delayedRetrySincePatch: number | null;
  /** The first patch release in which an AMQP 1.0 `modified` outcome can carry `x-opt-delivery-time`; null where none can. */
  readonly deferralSincePatch: number | null;
  /** What a policy's `apply-to` is called when it is for quorum queues alone (3.12), or for all queues. */
  readonly policyScope: "queues" | "quorum_queues";
  /** Whether a policy can set the consumer timeout (3.12); otherwise only rabbitmq.conf can. */
  readonly consumerTimeoutPolicy: boolean;
  /** The first patch release whose dead-letter cycle rule keeps rejected messages. Source: rabbitmq-server#11159, #11174. */
  readonly soundCyclesSincePatch: number;
  /** Whether Redeliver's tests run on a live broker of this series; the others follow the server's source. */
  readonly testedLive: boolean;
}

const upTo312: RabbitmqCapabilities = Object.freeze({
  routesByLastDeath: false,
  returnsCount: true,
  deliveryCountSurvivesDeadLettering: false,
  unlimitedDeliveryLimit: null,
  delayedRetrySincePatch: null,
  deferralSincePatch: null,
  policyScope: "queues",
  consumerTimeoutPolicy: false,
  soundCyclesSincePatch: 0,
  testedLive: false,
});
const upTo42: RabbitmqCapabilities = Object.freeze({
  ...upTo312,
  routesByLastDeath: true,
  unlimitedDeliveryLimit: -1,
  policyScope: "quorum_queues",
  consumerTimeoutPolicy: true,
});

/** Facts per series, as data. Nothing else in Redeliver asks which version it is dealing with. */
export const capabilities: Readonly<Record<RabbitmqVersion, RabbitmqCapabilities>> = Object.freeze({
  "3.10": Object.freeze({ ...upTo312, testedLive: true }),
  "3.11": upTo312,
  "3.12": Object.freeze({ ...upTo312, policyScope: "quorum_queues", consumerTimeoutPolicy: true }),
  "3.13": Object.freeze({ ...upTo42, unlimitedDeliveryLimit: null, soundCyclesSincePatch: 3 }),
  "4.0": Object.freeze({ ...upTo42, testedLive: true }),
  "4.1": upTo42,
  "4.2": upTo42,
  "4.3": Object.freeze({
    ...upTo42,
    returnsCount: false,
    deliveryCountSurvivesDeadLettering: true,
    delayedRetrySincePatch: 1,
    deferralSincePatch: 0,
    testedLive: true,
  }),
});

/** Limits of the broker and of the provider that deploys to it. */
export const rabbitmqLimits = Object.freeze({
  /** AMQP 0-9-1 short strings: names and routing keys. */
  nameBytes: 255,
  /** `consumer_timeout` in rabbitmq.conf, unless it was changed. Source: docs, "Delivery Acknowledgement Timeout". */
  consumerTimeoutMs: 1_800_000,
  /** From here on a cluster's number of quorum queues should be looked at. Source: docs, "Quorum Queues", resource use. */
  quorumQueues: 5_000,
  /** Tiers of one consumer under `staged`: each is a quorum queue. */
  stagedAttempts: 100,
});

/** A RabbitMQ broker to compile for. */
export interface RabbitmqTarget {
  readonly broker: "rabbitmq";
  readonly version: RabbitmqVersion;
  /** The patch release where it was named; null means the newest of the series. */
  readonly patch: number | null;
  readonly strategy: "auto" | StrategyName;
}

/** The ways of using RabbitMQ, in the order in which `auto` tries them. */
export const strategyNames = ["native", "deferred", "staged", "waits"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Whether a feature that came with a patch release is there; an unnamed patch is the newest. */
export function hasSince(target: RabbitmqTarget, sincePatch: number | null): boolean {
  return sincePatch !== null && (target.patch === null || target.patch >= sincePatch);
}

/** Writes a target as it is written on the command line: `rabbitmq@4.3`. */
export function formatTarget(target: RabbitmqTarget): string {
  return `rabbitmq@${target.version}${target.patch === null ? "" : `.${target.patch}`}`;
}
