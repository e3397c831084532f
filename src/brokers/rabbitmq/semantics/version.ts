import type { RabbitmqTarget } from "../capabilities.ts";
import type { RefusedKeys } from "./policy-keys.ts";
import { refusedKeys } from "./policy-keys.ts";

/**
 * Classes of versions that behave alike, each named by its first, oldest first. "3.12" is 3.12.2 and later. "4.2" is 4.2.5 and later:
 * up to 4.2.4 the series behaves as 4.1 does.
 */
export const semanticsVersions = ["3.10", "3.12", "3.13.0", "3.13.3", "4.0", "4.1", "4.2", "4.3.0", "4.3.1"] as const;
export type SemanticsVersion = (typeof semanticsVersions)[number];

/** The rules that differ between versions. Nothing else in the semantics asks for a version. */
export interface VersionRules {
  /**
   * What is compared with the delivery limit. Up to 3.13 one counter counts every return; 4.0 counts every return apart from
   * the failures among them and compares the former; 4.3 compares the failures.
   * Source: `rabbit_fifo:return_one` (3.13.7, 4.0.5, 4.3.5).
   */
  readonly limitCounts: "returns" | "failures";
  /** Whether returns and failures are counted apart (4.0). Source: `rabbit_fifo:incr_msg/3` (4.0.5). */
  readonly countsFailures: boolean;
  /**
   * Whether `basic.reject` with requeue is a failure, and `basic.nack` without requeue is none (4.3).
   * Source: `rabbit_channel:handle_method(#'basic.reject'{})`, `rabbit_channel:settle/2` (4.3.5), rabbitmq-server#15387.
   */
  readonly tellsRejectFromNack: boolean;
  /** Whether classic queues count failures too, without a limit (4.3). Source: `rabbit_variable_queue:maybe_inc_delivery_count/3`. */
  readonly classicCountsFailures: boolean;
  /** Source: `rabbit_quorum_queue.erl` DEFAULT_DELIVERY_LIMIT (4.0.0). */
  readonly defaultDeliveryLimit: number | null;
  /**
   * A delivery limit below 0: no limit (4.0), or the first return kills, since any count is more.
   * Source: `rabbit_fifo:update_config/2` (4.0.5), `rabbit_fifo:return_one` (3.10.8).
   */
  readonly negativeDeliveryLimit: "unlimited" | "first-return";
  /**
   * A delivery limit that is no integer: never exceeded, because every number is less than a string in Erlang, or the default (4.2.5).
   * Source: `rabbit_quorum_queue:get_delivery_limit/3` (4.2.5).
   */
  readonly wrongDeliveryLimit: "unlimited" | "default";
  /** How argument and policy for `expires` are merged in a quorum queue. Source: `rabbit_quorum_queue:ra_machine_config/1`. */
  readonly quorumExpires: "policy" | "smaller";
  /** Whether quorum queues can delay retries, by argument. Source: `rabbit_quorum_queue:get_delayed_retry_config/1` (4.3.0). */
  readonly delayedRetry: boolean;
  /** Whether a policy can switch it on (4.3.1). Source: rabbitmq-server#16394. */
  readonly delayedRetryByPolicy: boolean;
  /** Whether `x-opt-delivery-time` is obeyed (4.3). Source: `rabbit_fifo:should_delay/5`. */
  readonly deferral: boolean;
  /**
   * The order of the records in `x-death`. `recency`: the newest first. `shuffled`: the newest first, but whenever a message dies with
   * two records or more, those are turned round before. Source: `rabbit_dead_letter:group_by_queue_and_reason/1` (3.10.8),
   * `mc:record_death/3` (4.0.5).
   */
  readonly deathOrder: "shuffled" | "recency";
  /**
   * The rule that cuts cycles of deaths without a rejection. `ordered`: the records as the message has them, up to the first one of the
   * target queue, hold no rejection. `by-name`: the records sorted by queue name and reason, whichever of a rejection and
   * the target queue's comes first. Source: `rabbit_dead_letter:is_cycle/2` (3.10.8), `mc:is_cycle/2` (3.13.0), `mc:is_cycle_v2/2` (3.13.3).
   */
  readonly cycleRule: "ordered" | "by-name";
  /** Whether `x-last-death-*` are set, for routing and for the consumer (3.13). Source: `mc:record_death`. */
  readonly lastDeathHeaders: boolean;
  /** Whether the CC header goes when the dead-letter routing key replaces the keys (up to 3.12). Source: `rabbit_dead_letter:make_msg/5`. */
  readonly dropsCarbonCopies: boolean;
  /** Whether deaths record BCC keys (3.13.0 to 3.13.2). Source: `mc:record_death/3` (3.13.0). */
  readonly recordsBlindKeys: boolean;
  /**
   * Whether `x-death` in a client's publication becomes the history of the message; 4.0 ignores it.
   * Source: `mc_amqpl:headers_to_deaths/2` (3.13.3), rabbitmq-server#10709, #11331.
   */
  readonly readsPublishedDeaths: boolean;
  /**
   * AMQP 1.0: mapped on `basic.*` by a plugin up to 3.13, which knows `modified` from 3.13 on.
   * Source: `rabbit_amqp1_0_session_process:handle_control` (3.10.8, 3.13.7), `rabbit_amqp_session:settle_op_from_outcome/1` (4.0.5).
   */
  readonly amqp10: "plugin" | "plugin-with-modified" | "native";
  /** The policy keys that make a policy inapplicable to queues of a type. */
  readonly refusedKeys: RefusedKeys;
  /** Whether a policy's `apply-to` can name a queue type (3.12). Source: `rabbit_policy:matches_queue_type/3`. */
  readonly policyByQueueType: boolean;
  /**
   * Whether a queue learns that it got its own dead letter. Before 3.12.2 it does not: with at-least-once dead-lettering from a queue to itself
   * the copy arrives, and the dead letter is kept for ever all the same. Source: `rabbit_fifo_dlx_worker:handle_cast` (3.10.8, 3.12.14).
   */
  readonly confirmsToItself: boolean;
  /** Whether Redeliver's tests compare these rules with a live broker; otherwise they follow the server's source alone. */
  readonly testedLive: boolean;
}

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
});
const from431: VersionRules = Object.freeze({ ...from430, delayedRetryByPolicy: true, testedLive: true });

/** The rules of each class of versions, as data. */
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

/** The class that a target belongs to; a target without a patch release is the newest of its series. */
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
