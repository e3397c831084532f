import type { RabbitmqTarget } from "../../compile/capabilities.ts";
import type { QueueKind } from "./broker-topology.ts";

/**
 * Classes of versions that behave alike, each named by its first, oldest first. "3.12" is 3.12.2 and later. "4.2" is
 * 4.2.5 and later: up to 4.2.4 the series behaves as 4.1 does.
 */
export const semanticsVersions = ["3.10", "3.12", "3.13.0", "3.13.3", "4.0", "4.1", "4.2", "4.3.0", "4.3.1"] as const;
export type SemanticsVersion = (typeof semanticsVersions)[number];

/** The rules that differ between versions. No other part of the semantics asks for a version. */
export interface VersionRules {
  /**
   * The count that the broker compares with the delivery limit. Up to 3.13 one counter counts every return. 4.0 counts
   * failures apart and compares the count of all returns. 4.3 compares the failures. Source: `rabbit_fifo:return_one`
   * (3.13.7, 4.0.5, 4.3.5).
   */
  readonly limitCounts: "returns" | "failures";
  /** True if the broker counts returns and failures apart (4.0). Source: `rabbit_fifo:incr_msg/3` (4.0.5). */
  readonly countsFailures: boolean;
  /**
   * True if `basic.reject` with requeue is a failure, and `basic.nack` without requeue is none (4.3). Source:
   * `rabbit_channel:handle_method(#'basic.reject'{})`, `rabbit_channel:settle/2` (4.3.5), rabbitmq-server#15387.
   */
  readonly tellsRejectFromNack: boolean;
  /**
   * True if classic queues count failures too, without a limit (4.3). Source:
   * `rabbit_variable_queue:maybe_inc_delivery_count/3`.
   */
  readonly classicCountsFailures: boolean;
  /** Source: `rabbit_quorum_queue.erl` DEFAULT_DELIVERY_LIMIT (4.0.0). */
  readonly defaultDeliveryLimit: number | null;
  /**
   * The effect of a delivery limit below 0: no limit (4.0), or death on the first return, since any count is larger.
   * Source: `rabbit_fifo:update_config/2` (4.0.5), `rabbit_fifo:return_one` (3.10.8).
   */
  readonly negativeDeliveryLimit: "unlimited" | "first-return";
  /**
   * The effect of a delivery limit that is no integer. It is never exceeded, because in Erlang every number is less
   * than a string, or it is the default (4.2.5). Source: `rabbit_quorum_queue:get_delivery_limit/3` (4.2.5).
   */
  readonly wrongDeliveryLimit: "unlimited" | "default";
  /**
   * The way a quorum queue merges argument and policy for `expires`. Source: `rabbit_quorum_queue:ra_machine_config/1`.
   */
  readonly quorumExpires: "policy" | "smaller";
  /**
   * True if quorum queues can delay retries, by argument. Source: `rabbit_quorum_queue:get_delayed_retry_config/1`
   * (4.3.0).
   */
  readonly delayedRetry: boolean;
  /** True if a policy can switch delayed retry on (4.3.1). Source: rabbitmq-server#16394. */
  readonly delayedRetryByPolicy: boolean;
  /** True if the broker obeys `x-opt-delivery-time` (4.3). Source: `rabbit_fifo:should_delay/5`. */
  readonly deferral: boolean;
  /**
   * The order of the records in `x-death`. `recency`: the newest first. `shuffled`: the newest first, but each death of
   * a message with two records or more first reverses them. Source: `rabbit_dead_letter:group_by_queue_and_reason/1`
   * (3.10.8), `mc:record_death/3` (4.0.5).
   */
  readonly deathOrder: "shuffled" | "recency";
  /**
   * The rule that cuts cycles of deaths without a rejection. `ordered`: the broker reads the records in the message's
   * order up to the first one of the target queue, and finds no rejection. `by-name`: it sorts the records by queue
   * name and reason. The first rejection or the target queue's record decides. Source: `rabbit_dead_letter:is_cycle/2`
   * (3.10.8), `mc:is_cycle/2` (3.13.0), `mc:is_cycle_v2/2` (3.13.3).
   */
  readonly cycleRule: "ordered" | "by-name";
  /** True if the broker sets `x-last-death-*`, for routing and for the consumer (3.13). Source: `mc:record_death`. */
  readonly lastDeathHeaders: boolean;
  /**
   * True if the broker removes the CC header when the dead-letter routing key replaces the keys (up to 3.12). Source:
   * `rabbit_dead_letter:make_msg/5`.
   */
  readonly dropsCarbonCopies: boolean;
  /** True if deaths record BCC keys (3.13.0 to 3.13.2). Source: `mc:record_death/3` (3.13.0). */
  readonly recordsBlindKeys: boolean;
  /**
   * True if the broker takes over `x-death` from a client's publication; 4.0 ignores it. Source:
   * `mc_amqpl:headers_to_deaths/2` (3.13.3), rabbitmq-server#10709, #11331.
   */
  readonly readsPublishedDeaths: boolean;
  /**
   * AMQP 1.0. Up to 3.13 a plugin maps it to `basic.*`; the plugin knows `modified` from 3.13 on. Source:
   * `rabbit_amqp1_0_session_process:handle_control` (3.10.8, 3.13.7), `rabbit_amqp_session:settle_op_from_outcome/1`
   * (4.0.5).
   */
  readonly amqp10: "plugin" | "plugin-with-modified" | "native";
  /** For each type of queue, the policy keys that make a policy inapplicable. */
  readonly refusedKeys: RefusedKeys;
  /** True if a policy's `apply-to` can name a queue type (3.12). Source: `rabbit_policy:matches_queue_type/3`. */
  readonly policyByQueueType: boolean;
  /**
   * True if a queue learns that it received its own dead letter. Before 3.12.2 it does not. With at-least-once
   * dead-lettering from a queue to itself, the copy arrives, but the queue keeps the dead letter for ever. Source:
   * `rabbit_fifo_dlx_worker:handle_cast` (3.10.8, 3.12.14).
   */
  readonly confirmsToItself: boolean;
  /** True if a policy can mirror classic queues; 4.0 refuses such a policy. Source: release notes of 4.0. */
  readonly mirroringByPolicy: boolean;
  /**
   * True if there is a delayed-message-exchange plugin. Its last release is for 4.2. Source: its repository, archived.
   */
  readonly delayedMessagePlugin: boolean;
  /**
   * True if Redeliver's tests compare these rules with a live broker. Otherwise they follow the server's source alone.
   */
  readonly testedLive: boolean;
}

/**
 * The policy keys that each type of queue does not know. A policy with one of them does not apply to the queue at all.
 */
type RefusedKeys = Readonly<Record<QueueKind, ReadonlySet<string>>>;

const mirroring = ["ha-mode", "ha-params", "ha-sync-mode", "ha-promote-on-shutdown", "ha-promote-on-failure"];
const ofStreams = ["max-age", "stream-max-segment-size-bytes", "initial-cluster-size"];
const inMemory = ["max-in-memory-length", "max-in-memory-bytes"];

const classic = [...ofStreams, "delivery-limit", "dead-letter-strategy", "target-group-size"];
const quorum = new Set([...ofStreams, ...mirroring, "max-priority", "queue-mode", "queue-master-locator"]);
const stream = new Set([
  ...mirroring,
  ...inMemory,
  "expires",
  "message-ttl",
  "dead-letter-exchange",
  "dead-letter-routing-key",
  "dead-letter-strategy",
  "max-length",
  "max-priority",
  "overflow",
  "queue-mode",
  "single-active-consumer",
  "delivery-limit",
  "queue-master-locator",
]);

/**
 * The lists by the versions that changed them. If a version does not know a key at all, no policy there has it. Source:
 * `rabbit_classic_queue:capabilities/0`, `rabbit_quorum_queue:capabilities/0`, `rabbit_stream_queue:capabilities/0`,
 * `rabbit_queue_type:is_policy_applicable/2`.
 */
const refusedKeys = {
  "3.10": { classic: new Set([...classic, "queue-leader-locator"]), quorum, stream },
  "3.12": { classic: new Set([...classic, ...inMemory, "queue-leader-locator"]), quorum, stream },
  "4.0": { classic: new Set([...classic, ...inMemory]), quorum, stream: new Set([...stream, "target-group-size"]) },
} as const satisfies Readonly<Record<string, RefusedKeys>>;

const from310: VersionRules = Object.freeze({
  limitCounts: "returns",
  countsFailures: false,
  tellsRejectFromNack: false,
  classicCountsFailures: false,
  defaultDeliveryLimit: null,
  negativeDeliveryLimit: "first-return",
  wrongDeliveryLimit: "unlimited",
  quorumExpires: "policy",
  delayedRetry: false,
  delayedRetryByPolicy: false,
  deferral: false,
  deathOrder: "shuffled",
  cycleRule: "ordered",
  lastDeathHeaders: false,
  dropsCarbonCopies: true,
  recordsBlindKeys: false,
  readsPublishedDeaths: true,
  amqp10: "plugin",
  refusedKeys: refusedKeys["3.10"],
  policyByQueueType: false,
  confirmsToItself: false,
  mirroringByPolicy: true,
  delayedMessagePlugin: true,
  testedLive: true,
});
const from312: VersionRules = Object.freeze({
  ...from310,
  refusedKeys: refusedKeys["3.12"],
  policyByQueueType: true,
  confirmsToItself: true,
  testedLive: false,
});
const from3130: VersionRules = Object.freeze({
  ...from312,
  deathOrder: "recency",
  cycleRule: "by-name",
  lastDeathHeaders: true,
  dropsCarbonCopies: false,
  recordsBlindKeys: true,
  readsPublishedDeaths: false,
  amqp10: "plugin-with-modified",
});
const from3133: VersionRules = Object.freeze({
  ...from3130,
  cycleRule: "ordered",
  recordsBlindKeys: false,
  readsPublishedDeaths: true,
});
const from40: VersionRules = Object.freeze({
  ...from3133,
  refusedKeys: refusedKeys["4.0"],
  mirroringByPolicy: false,
  countsFailures: true,
  defaultDeliveryLimit: 20,
  negativeDeliveryLimit: "unlimited",
  quorumExpires: "smaller",
  readsPublishedDeaths: false,
  amqp10: "native",
  testedLive: true,
});
const from41: VersionRules = Object.freeze({ ...from40, testedLive: false });
const from42: VersionRules = Object.freeze({ ...from41, wrongDeliveryLimit: "default" });
const from430: VersionRules = Object.freeze({
  ...from42,
  limitCounts: "failures",
  tellsRejectFromNack: true,
  classicCountsFailures: true,
  delayedRetry: true,
  deferral: true,
  delayedMessagePlugin: false,
});
const from431: VersionRules = Object.freeze({ ...from430, delayedRetryByPolicy: true, testedLive: true });

export const versionRules: Readonly<Record<SemanticsVersion, VersionRules>> = Object.freeze({
  "3.10": from310,
  "3.12": from312,
  "3.13.0": from3130,
  "3.13.3": from3133,
  "4.0": from40,
  "4.1": from41,
  "4.2": from42,
  "4.3.0": from430,
  "4.3.1": from431,
});

/** The class of a target. A target without a patch release counts as the newest of its series. */
export function semanticsVersionOf(target: Pick<RabbitmqTarget, "version" | "patch">): SemanticsVersion {
  const patch = target.patch ?? Number.POSITIVE_INFINITY;
  switch (target.version) {
    case "3.10":
    case "3.11":
      return "3.10";
    case "3.12":
    case "4.0":
    case "4.1":
      return target.version;
    case "3.13":
      return patch >= 3 ? "3.13.3" : "3.13.0";
    case "4.2":
      return patch >= 5 ? "4.2" : "4.1";
    case "4.3":
      return patch >= 1 ? "4.3.1" : "4.3.0";
    default:
      return target.version satisfies never;
  }
}
