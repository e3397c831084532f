import { rabbitmqLimits } from "../../compile/capabilities.ts";
import type { BrokerQueue, DelayedRetry, EffectiveSettings, IgnoredSetting, QueueKind } from "./broker-topology.ts";
import type { HeaderValue } from "./message-state.ts";
import type { MatchedPolicies, PolicyIndex } from "./policies.ts";
import { matchPolicies, mergeDeliveryLimits, mergeOperatorValue, smallerTerm } from "./policies.ts";
import { type SemanticsVersion, type VersionRules, versionRules } from "./version.ts";

/**
 * The settings in force for a queue on a version. It merges arguments and policies by the broker's rules of precedence,
 * and leaves out the ones that the broker ignores.
 */
export function settingsOf(queue: BrokerQueue, policies: PolicyIndex, version: SemanticsVersion): EffectiveSettings {
  const rules = versionRules[version];
  const matched = matchPolicies(queue, policies, rules);
  const read: Reader = { queue, rules, matched, ignored: [...matched.ignored] };
  const overflow = overflowOf(read);
  const deadLetterExchange = textOf(read, "dead-letter-exchange", argumentFirst);
  return Object.freeze({
    queue: queue.name,
    kind: queue.kind,
    policy: matched.user?.name ?? null,
    operatorPolicy: matched.operator?.name ?? null,
    deadLetterExchange: queue.kind === "stream" ? null : deadLetterExchange,
    deadLetterRoutingKey: routingKeyOf(read, deadLetterExchange),
    deadLetterStrategy: strategyOf(read, overflow, deadLetterExchange),
    overflow,
    deliveryLimit: deliveryLimitOf(read),
    messageTtlMs: numberOf(read, "message-ttl", smallerTerm, 0),
    expiresMs: numberOf(
      read,
      "expires",
      queue.kind === "quorum" && rules.quorumExpires === "policy" ? policyFirst : smallerTerm,
      1,
    ),
    maxLength: numberOf(read, "max-length", smallerTerm, 0),
    maxLengthBytes: numberOf(read, "max-length-bytes", smallerTerm, 0),
    delayedRetry: delayedRetryOf(read),
    goesWith: queue.goesWith ?? noEnds,
    ignored: Object.freeze(read.ignored),
  });
}

const noEnds = Object.freeze([]);

interface Reader {
  readonly queue: BrokerQueue;
  readonly rules: VersionRules;
  readonly matched: MatchedPolicies;
  readonly ignored: IgnoredSetting[];
}

type Resolve = (fromPolicy: HeaderValue, fromArgument: HeaderValue) => HeaderValue;

const argumentFirst: Resolve = (_fromPolicy, fromArgument) => fromArgument;
const policyFirst: Resolve = (fromPolicy) => fromPolicy;

/** Source: `rabbit_queue_type_util:args_policy_lookup/3`. */
function lookUp(read: Reader, key: string, resolve: Resolve): HeaderValue | undefined {
  const fromArgument = read.queue.arguments[`x-${key}`] ?? undefined;
  const fromPolicy = policyValue(read, key);
  if (fromPolicy === undefined) return fromArgument;
  if (fromArgument === undefined) return fromPolicy;
  const value = resolve(fromPolicy, fromArgument);
  if (value !== fromArgument) ignore(read, key, "argument", "overridden");
  else if (value !== fromPolicy) ignore(read, key, "policy", "overridden");
  return value;
}

function policyValue(read: Reader, key: string): HeaderValue | undefined {
  const { user, operator } = read.matched;
  const fromUser = user?.definition[key] ?? undefined;
  const fromOperator = operator?.definition[key] ?? undefined;
  if (fromUser === undefined) return fromOperator;
  if (fromOperator === undefined) return fromUser;
  return mergeOperatorValue(key, fromUser, fromOperator, read.rules);
}

function ignore(read: Reader, key: string, from: IgnoredSetting["from"], why: IgnoredSetting["why"]): void {
  read.ignored.push(Object.freeze({ key: from === "argument" ? `x-${key}` : key, from, why }));
}

/** A value of the wrong type comes from an argument, because the broker checks the types in policies. */
function ignoreWrongType(read: Reader, key: string): void {
  ignore(read, key, read.queue.arguments[`x-${key}`] === undefined ? "policy" : "argument", "wrong-type");
}

function textOf(read: Reader, key: string, resolve: Resolve): string | null {
  const value = lookUp(read, key, resolve);
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  ignoreWrongType(read, key);
  return null;
}

function numberOf(read: Reader, key: string, resolve: Resolve, least: number): number | null {
  const value = lookUp(read, key, resolve);
  if (value === undefined) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  ignoreWrongType(read, key);
  return null;
}

/** Source: `rabbit_quorum_queue:dlh/5`, `rabbit_amqqueue_process:init_dlx_rkey/2`. */
function routingKeyOf(read: Reader, deadLetterExchange: string | null): string | null {
  const key = textOf(read, "dead-letter-routing-key", argumentFirst);
  if (key === null || deadLetterExchange !== null) return key;
  ignore(read, "dead-letter-routing-key", whereFrom(read, "dead-letter-routing-key"), "needs-another-setting");
  return null;
}

function whereFrom(read: Reader, key: string): IgnoredSetting["from"] {
  if (read.queue.arguments[`x-${key}`] !== undefined) return "argument";
  return policyWith(read, key);
}

function policyWith(read: Reader, key: string): "policy" | "operator-policy" {
  return read.matched.user?.definition[key] === undefined ? "operator-policy" : "policy";
}

/**
 * At-least-once falls back to at-most-once where the queue could drop a message from its head. Source:
 * `rabbit_quorum_queue:dlh/5`.
 */
function strategyOf(
  read: Reader,
  overflow: EffectiveSettings["overflow"],
  deadLetterExchange: string | null,
): EffectiveSettings["deadLetterStrategy"] {
  const wanted = textOf(read, "dead-letter-strategy", argumentFirst);
  if (wanted !== "at-least-once") return "at-most-once";
  const from = whereFrom(read, "dead-letter-strategy");
  if (read.queue.kind !== "quorum") {
    ignore(read, "dead-letter-strategy", from, "not-for-queue-type");
    return "at-most-once";
  }
  if (deadLetterExchange !== null && overflow === "reject-publish") return "at-least-once";
  ignore(read, "dead-letter-strategy", from, "needs-another-setting");
  return "at-most-once";
}

/**
 * In a quorum queue the policy goes before the argument, and `reject-publish-dlx` acts as `drop-head`. In a classic
 * queue the argument goes first. Source: `rabbit_quorum_queue:overflow/3`,
 * `rabbit_amqqueue_process:process_args_policy/1`.
 */
function overflowOf(read: Reader): EffectiveSettings["overflow"] {
  const isQuorum = read.queue.kind === "quorum";
  const value = lookUp(read, "overflow", isQuorum ? policyFirst : argumentFirst);
  if (value === "reject-publish" || (value === "reject-publish-dlx" && !isQuorum)) return value;
  if (value === "reject-publish-dlx") ignore(read, "overflow", whereFrom(read, "overflow"), "not-for-queue-type");
  return "drop-head";
}

/**
 * Argument and policy are merged as by `mergeDeliveryLimits`: in Erlang a string is more than any number. Source:
 * `rabbit_quorum_queue:resolve_delivery_limit/2` (4.0.5), `ra_machine_config/1` (3.10.8).
 */
function deliveryLimitOf(read: Reader): number | null {
  if (read.queue.kind !== "quorum") {
    if (read.queue.arguments["x-delivery-limit"] !== undefined)
      ignore(read, "delivery-limit", "argument", "not-for-queue-type");
    return null;
  }
  const { rules } = read;
  const value = lookUp(read, "delivery-limit", (fromPolicy, fromArgument) =>
    mergeDeliveryLimits(fromPolicy, fromArgument, rules),
  );
  if (value === undefined) return rules.defaultDeliveryLimit;
  if (typeof value !== "number" || (!Number.isInteger(value) && rules.wrongDeliveryLimit === "default")) {
    ignoreWrongType(read, "delivery-limit");
    return rules.wrongDeliveryLimit === "default" ? rules.defaultDeliveryLimit : null;
  }
  if (value >= rabbitmqLimits.unreachedDeliveryLimit) return null;
  if (value >= 0) return Math.floor(value);
  return rules.negativeDeliveryLimit === "unlimited" ? null : 0;
}

const retryKeys = ["delayed-retry-type", "delayed-retry-min", "delayed-retry-max"] as const;

/** The broker does not check the arguments. Source: `rabbit_quorum_queue:get_delayed_retry_config/1` (4.3.5). */
function delayedRetryOf(read: Reader): DelayedRetry | null {
  if (!isDelayedRetryKnown(read, read.queue.kind)) return null;
  const type = lookUp(read, "delayed-retry-type", policyFirst);
  if (type === undefined || type === "disabled") return null;
  if (type !== "all" && type !== "failed" && type !== "returned") {
    ignoreWrongType(read, "delayed-retry-type");
    return null;
  }
  const least = lookUp(read, "delayed-retry-min", smallerTerm);
  const most = lookUp(read, "delayed-retry-max", smallerTerm);
  if (!isDelay(least)) {
    if (least === undefined)
      ignore(read, "delayed-retry-type", whereFrom(read, "delayed-retry-type"), "needs-another-setting");
    else ignoreWrongType(read, "delayed-retry-min");
    return null;
  }
  if (most !== undefined && !isDelay(most)) ignoreWrongType(read, "delayed-retry-max");
  return Object.freeze({ returns: type, minMs: least, maxMs: isDelay(most) ? most : least });
}

function isDelay(value: HeaderValue | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

function isDelayedRetryKnown(read: Reader, kind: QueueKind): boolean {
  if (kind === "quorum" && read.rules.delayedRetry) return true;
  const why = kind === "quorum" ? "unknown-to-version" : "not-for-queue-type";
  for (const key of retryKeys) {
    if (read.queue.arguments[`x-${key}`] !== undefined) ignore(read, key, "argument", why);
    if (policyValue(read, key) !== undefined) ignore(read, key, policyWith(read, key), why);
  }
  return false;
}
