import type { QueueKind } from "./broker-topology.ts";

/** The policy keys that each type of queue does not know: a policy with one of them does not apply to such a queue at all. */
export type RefusedKeys = Readonly<Record<QueueKind, ReadonlySet<string>>>;

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
 * By the versions in which the lists change. A key that a version does not know at all is in no policy there.
 * Source: `rabbit_classic_queue:capabilities/0`, `rabbit_quorum_queue:capabilities/0`, `rabbit_stream_queue:capabilities/0`,
 * `rabbit_queue_type:is_policy_applicable/2`.
 */
export const refusedKeys = {
  "3.10": { classic: new Set([...classic, "queue-leader-locator"]), quorum, stream },
  "3.12": { classic: new Set([...classic, ...inMemory, "queue-leader-locator"]), quorum, stream },
  "4.0": { classic: new Set([...classic, ...inMemory]), quorum, stream: new Set([...stream, "target-group-size"]) },
} as const satisfies Readonly<Record<string, RefusedKeys>>;
