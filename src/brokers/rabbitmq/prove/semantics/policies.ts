import type {
  Arguments,
  BrokerExchange,
  BrokerPolicy,
  BrokerQueue,
  IgnoredSetting,
  QueueKind,
} from "./broker-topology.ts";
import type { HeaderValue } from "./message-state.ts";
import { patternTestOf } from "../../compile/policy-pattern.ts";
import type { VersionRules } from "./version.ts";

/** The one user policy and the one operator policy that apply to a queue. */
export type MatchedPolicies = ReturnType<typeof matchPolicies>;

const delayedRetryKeys: ReadonlySet<string> = new Set(["delayed-retry-type", "delayed-retry-min", "delayed-retry-max"]);

/** Policies, indexed for lookup. Most patterns name one queue, and a broker may have as many policies as queues. */
export type PolicyIndex<Policy extends Patterned = BrokerPolicy> = ReturnType<typeof indexPolicies<Policy>>;

/** An item with a pattern that names queues or exchanges. */
interface Patterned {
  readonly pattern: string;
}

export function indexPolicies<Policy extends Patterned>(policies: readonly Policy[]) {
  const byName = Map.groupBy(policies, ({ pattern }) => nameIn(pattern));
  const byPattern = byName.get(null) ?? [];
  // The place of each policy in the list. Of two with the same priority, the first one wins.
  return { byName, byPattern, places: new Map(policies.map((policy, place) => [policy, place])) };
}

/**
 * Finds the policies with a pattern that matches a name, in their given order. It ignores the kind of thing that they
 * apply to.
 */
export function policiesNaming<Policy extends Patterned>(index: PolicyIndex<Policy>, name: string): readonly Policy[] {
  const named = index.byName.get(name) ?? [];
  if (index.byPattern.length === 0) return named;
  // An unreadable pattern matches nothing here. An audit reports it.
  const others = index.byPattern.filter(({ pattern }) => patternTestOf(pattern)?.(name) === true);
  if (named.length === 0) return others;
  return [...named, ...others].sort((left, right) => placeOf(index, left) - placeOf(index, right));
}

function placeOf<Policy extends Patterned>({ places }: PolicyIndex<Policy>, policy: Policy): number {
  return places.get(policy) ?? 0;
}

/** The one name that a pattern such as `^orders\\.work$` matches, or null. */
function nameIn(pattern: string): string | null {
  if (!/^\^(?:[^\\^$.|?*+()[\]{}]|\\[^A-Za-z0-9])*\$$/u.test(pattern)) return null;
  return pattern.slice(1, -1).replaceAll(/\\(.)/gu, "$1");
}

/**
 * Finds the policies that name a queue and are for its type. They may apply as a whole, or not at all if they have a
 * key that the queue does not know.
 */
export function policiesFor(
  queue: Pick<BrokerQueue, "name" | "kind">,
  policies: PolicyIndex,
  rules: VersionRules,
): { readonly applicable: readonly BrokerPolicy[]; readonly refused: readonly BrokerPolicy[] } {
  const candidates = policiesNaming(policies, queue.name).filter((policy) => isForQueue(policy, queue.kind, rules));
  const isRefused = ({ definition }: BrokerPolicy): boolean =>
    Object.keys(definition).some((key) => rules.refusedKeys[queue.kind].has(key));
  return {
    applicable: candidates.filter((policy) => !isRefused(policy)),
    refused: candidates.filter((policy) => isRefused(policy)),
  };
}

export function matchPolicies(queue: BrokerQueue, policies: PolicyIndex, rules: VersionRules) {
  const { applicable, refused } = policiesFor(queue, policies, rules);
  const ignored = refused.flatMap((policy) => ignoreAll(policy, "not-for-queue-type"));
  const user = highest(applicable, "user");
  const operator = highest(applicable, "operator");
  for (const policy of applicable)
    if (policy !== user && policy !== operator) ignored.push(...ignoreAll(policy, "overridden"));
  return {
    user: withoutUnknownKeys(user, rules, ignored),
    operator: withoutUnknownKeys(operator, rules, ignored),
    /** Keys of policies that match by name, but that the broker ignores as a whole or in part. */
    ignored,
  };
}

function ignoreAll(policy: BrokerPolicy, why: IgnoredSetting["why"]): IgnoredSetting[] {
  const from = policy.kind === "user" ? "policy" : "operator-policy";
  return Object.keys(policy.definition).map((key) => ({ key, from, why }));
}

/**
 * A broker that does not know a key refuses the policy. If the policy comes from a newer broker, the key is left out.
 */
function withoutUnknownKeys(
  policy: BrokerPolicy | null,
  rules: VersionRules,
  ignored: IgnoredSetting[],
): BrokerPolicy | null {
  if (policy === null || rules.delayedRetryByPolicy) return policy;
  const unknown = Object.keys(policy.definition).filter((key) => delayedRetryKeys.has(key));
  if (unknown.length === 0) return policy;
  const from = policy.kind === "user" ? "policy" : "operator-policy";
  ignored.push(...unknown.map((key) => ({ key, from, why: "unknown-to-version" }) as const));
  const definition = Object.fromEntries(Object.entries(policy.definition).filter(([key]) => !unknown.includes(key)));
  return { ...policy, definition };
}

const queueKinds = { classic_queues: "classic", quorum_queues: "quorum", streams: "stream" } as const;

/** Source: `rabbit_policy:matches/3`, `rabbit_policy:matches_queue_type/3`. */
function isForQueue({ applyTo }: BrokerPolicy, kind: QueueKind, rules: VersionRules): boolean {
  if (applyTo === "all" || applyTo === "queues") return true;
  return applyTo !== "exchanges" && rules.policyByQueueType && kind === queueKinds[applyTo];
}

/**
 * The broker promises no order for policies of the same priority; here the first one wins. Source:
 * `rabbit_policy:match/3`.
 */
export function highest(policies: readonly BrokerPolicy[], kind: BrokerPolicy["kind"]): BrokerPolicy | null {
  const ofKind = policies.filter((policy) => policy.kind === kind);
  return ofKind.toSorted((one, other) => other.priority - one.priority)[0] ?? null;
}

const smallerWins: ReadonlySet<string> = new Set([
  "message-ttl",
  "max-length",
  "max-length-bytes",
  "expires",
  "delayed-retry-max",
]);

/** Source: `rabbit_policies:merge_policy_value/3`, `rabbit_quorum_queue:merge_policy_value/3` (4.3.5). */
export function mergeOperatorValue(
  key: string,
  user: HeaderValue,
  operator: HeaderValue,
  rules: VersionRules,
): HeaderValue {
  if (key === "delivery-limit") return mergeDeliveryLimits(user, operator, rules);
  if (key === "delayed-retry-min") return largerTerm(user, operator);
  return smallerWins.has(key) ? smallerTerm(user, operator) : operator;
}

/** The smaller of two limits; if one of them is negative, the larger (4.0). */
export function mergeDeliveryLimits(one: HeaderValue, other: HeaderValue, rules: VersionRules): HeaderValue {
  const isNegative = [one, other].some((value) => typeof value === "number" && value < 0);
  return rules.negativeDeliveryLimit === "unlimited" && isNegative ? largerTerm(one, other) : smallerTerm(one, other);
}

/** Erlang orders terms of different types: numbers, then atoms (true, false), maps, lists, and strings last. */
export function smallerTerm(left: HeaderValue, right: HeaderValue): HeaderValue {
  return compareTerms(left, right) <= 0 ? left : right;
}

function largerTerm(left: HeaderValue, right: HeaderValue): HeaderValue {
  return compareTerms(left, right) >= 0 ? left : right;
}

function compareTerms(left: HeaderValue, right: HeaderValue): number {
  const byType = rankOf(left) - rankOf(right);
  if (byType !== 0) return byType;
  const [first, second] =
    typeof left === "object" ? [JSON.stringify(left), JSON.stringify(right)] : [left, right as typeof left];
  return first < second ? -1 : first > second ? 1 : 0;
}

function rankOf(value: HeaderValue): number {
  if (typeof value === "number") return 0;
  if (typeof value === "boolean" || value === null) return 1;
  if (typeof value === "string") return 4;
  return Array.isArray(value) ? 3 : 2;
}

/** The values of the policies in force on a queue: the user's policy, with the operator's merged over it. */
export function definitionInForce(queue: BrokerQueue, policies: PolicyIndex, rules: VersionRules): Arguments {
  const { user, operator } = matchPolicies(queue, policies, rules);
  const merged = { ...user?.definition };
  for (const [key, value] of Object.entries(operator?.definition ?? {})) {
    const own = merged[key];
    merged[key] = own === undefined ? value : mergeOperatorValue(key, own, value, rules);
  }
  return merged;
}

/** The user's policy in force on an exchange. Operators have none for exchanges. */
export function exchangePolicyInForce(index: PolicyIndex, name: string): BrokerPolicy | null {
  return highest(policiesForExchange(index, name), "user");
}

export function policiesForExchange(index: PolicyIndex<BrokerPolicy>, name: string): readonly BrokerPolicy[] {
  return policiesNaming(index, name).filter(({ applyTo }) => applyTo === "all" || applyTo === "exchanges");
}

/** The alternate exchanges that policies give to exchanges. Source: `rabbit_policy:get_arg/3`. */
export function alternatesByPolicy(
  exchanges: readonly BrokerExchange[],
  policies: readonly BrokerPolicy[],
): ReadonlyMap<string, string> {
  const index = indexPolicies(policies);
  const alternates = new Map<string, string>();
  for (const { name } of exchanges) {
    const alternate = exchangePolicyInForce(index, name)?.definition["alternate-exchange"];
    if (typeof alternate === "string") alternates.set(name, alternate);
  }
  return alternates;
}
