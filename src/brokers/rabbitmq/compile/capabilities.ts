import type { ForeignPolicy } from "./foreign-policies.ts";

/** The RabbitMQ series that Redeliver knows, oldest first. */
export const versions = ["3.10", "3.11", "3.12", "3.13", "4.0", "4.1", "4.2", "4.3"] as const;
export type RabbitmqVersion = (typeof versions)[number];

/** The behaviour of one series of RabbitMQ, as far as retries depend on it. */
export interface RabbitmqCapabilities {
  /**
   * True if routing can see the reason of a message's last death (`x-last-death-reason`). Up to 3.12 routing sees only
   * its first death. Source:
   * `rabbit_dead_letter:make_msg/5`, `group_by_queue_and_reason/1` (3.12), `mc:record_death/4` (3.13); measured in
   * docs/broker-facts.md.
   */
  readonly routesByLastDeath: boolean;
  /**
   * True if a message that comes back with `basic.nack(requeue=true)` counts towards the delivery limit. Source:
   * `rabbit_fifo:return_one`; 4.3 release notes; docs "When is delivery count incremented?".
   */
  readonly returnsCount: boolean;
  /**
   * True if a message keeps its count of failed deliveries when one quorum queue dead-letters it to another. Source:
   * `rabbit_fifo:maybe_set_msg_delivery_count` (4.3).
   */
  readonly deliveryCountSurvivesDeadLettering: boolean;
  /**
   * The argument value that switches off the default delivery limit of 20 of quorum queues; null if there is no default
   * limit. Before 4.0 a negative value means "dead after one delivery". Source: `rabbit_quorum_queue.erl`
   * DEFAULT_DELIVERY_LIMIT.
   */
  readonly unlimitedDeliveryLimit: -1 | null;
  /**
   * The first patch release that lets a policy switch on delayed retry in quorum queues; null if none does. Source:
   * rabbitmq-server#16394.
   */
  readonly delayedRetrySincePatch: number | null;
  /**
   * The first patch release that lets an AMQP 1.0 `modified` outcome carry `x-opt-delivery-time`; null if none does.
   */
  readonly deferralSincePatch: number | null;
  /** The value of a policy's `apply-to`: for quorum queues alone (3.12), or for all queues. */
  readonly policyScope: "queues" | "quorum_queues";
  /** True if a policy can set the consumer timeout (3.12); otherwise only rabbitmq.conf can. */
  readonly consumerTimeoutPolicy: boolean;
  /**
   * The first patch release with a dead-letter cycle rule that keeps rejected messages. Source: rabbitmq-server#11159,
   * #11174.
   */
  readonly soundCyclesSincePatch: number;
  /** True if Redeliver's tests run on a live broker of this series; the others follow the server's source. */
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

/** The facts of each series. No other part of Redeliver asks for the version. */
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
  /** `consumer_timeout` in rabbitmq.conf by default. Source: docs, "Delivery Acknowledgement Timeout". */
  consumerTimeoutMs: 1_800_000,
  /**
   * From this number on, operators should watch the number of quorum queues in a cluster. Source: docs, "Quorum
   * Queues", resource use.
   */
  quorumQueues: 5_000,
  /**
   * A delivery limit that no message reaches: at 100,000 deliveries a second it takes 2,800 years. Up to 3.13 it changes
   * nothing, and from 4.0 on it replaces the default of 20. So a queue without the argument keeps its messages over an
   * upgrade. A negative limit would do the same from 4.0 on, but before that it means "dead after one delivery".
   */
  unreachedDeliveryLimit: Number.MAX_SAFE_INTEGER,
  /** The most attempts of one consumer under `staged`. Each but the first has a tier, which is a quorum queue. */
  stagedAttempts: 100,
  /**
   * The number of attempts that a consumer under `staged` may have had before. A message on a later attempt than these
   * would start over if the user lowers the attempts.
   */
  pastAttempts: 10,
});

/** A RabbitMQ broker to compile for. */
export interface RabbitmqTarget {
  readonly broker: "rabbitmq";
  readonly version: RabbitmqVersion;
  /** The patch release if the target names one; null means the newest of the series. */
  readonly patch: number | null;
  readonly strategy: "auto" | StrategyName;
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>>;
  /** The older series that the system was first deployed for. Its queues keep the arguments of that one. */
  readonly since?: RabbitmqVersion;
  /** The policies on the broker that others own. */
  readonly policies?: readonly ForeignPolicy[];
  /** Left out if each consumer has a dead queue of its own. */
  readonly deadQueue?: "shared";
}

/**
 * The target for a system that is deployed over an older one. Nobody can change the arguments of a queue, so the queues
 * keep those of the older target.
 */
export function targetOver(old: RabbitmqTarget, next: RabbitmqTarget): RabbitmqTarget {
  const { since = old.version } = old;
  return next.since === undefined && hasNoLimit(since) && !hasNoLimit(next.version) ? { ...next, since } : next;
}

/** True if queues for a target have no argument for their delivery limit. */
function hasNoLimit(version: RabbitmqVersion): boolean {
  return capabilities[version].unlimitedDeliveryLimit === null;
}

/** The facts of a target's series. */
export interface TargetCapabilities extends RabbitmqCapabilities {
  /** True if an argument switches off the delivery limit of a queue that keeps its messages. Otherwise a policy does. */
  readonly limitIsArgument: boolean;
}

export function capabilitiesOf({ version, since = version }: RabbitmqTarget): TargetCapabilities {
  return { ...capabilities[version], limitIsArgument: !hasNoLimit(since) };
}

/** True if a broker with the rules of the first target has to be upgraded for the second one. */
export function isOlder(one: RabbitmqTarget, other: RabbitmqTarget): boolean {
  const [own, wanted] = [one, other].map(({ version }) => versions.indexOf(version)) as [number, number];
  return own < wanted || (own === wanted && other.patch !== null && one.patch !== null && one.patch < other.patch);
}

/** The strategies for RabbitMQ, in the order that `auto` tries them. */
export const strategyNames = ["native", "deferred", "staged", "waits"] as const;
export type StrategyName = (typeof strategyNames)[number];

/** Tells if the target has a feature that came with a patch release. An unnamed patch is the newest. */
export function hasSince(target: RabbitmqTarget, sincePatch: number | null): boolean {
  return sincePatch !== null && (target.patch === null || target.patch >= sincePatch);
}

/** Writes a target as on the command line: `rabbitmq@4.3`. */
export function formatTarget(target: RabbitmqTarget): string {
  return `rabbitmq@${target.version}${target.patch === null ? "" : `.${target.patch}`}`;
}
