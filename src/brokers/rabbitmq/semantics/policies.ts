import type { BrokerExchange, BrokerPolicy, BrokerQueue, IgnoredSetting, QueueKind } from "./broker-topology.ts";
import type { HeaderValue } from "./message-state.ts";
import { patternTestOf } from "./policy-pattern.ts";
import type { VersionRules } from "./version.ts";

/** The one user policy and the one operator policy that apply to a queue. */
export interface MatchedPolicies {
  readonly user: BrokerPolicy | null;
  readonly operator: BrokerPolicy | null;
  /** Keys of policies that match by name, but are left out as a whole or in part. */
  readonly ignored: readonly IgnoredSetting[];
}

const delayedRetryKeys: ReadonlySet<string> = new Set(["delayed-retry-type", "delayed-retry-min", "delayed-retry-max"]);

/** Policies, ready to look up: most patterns name one queue, and a broker may have as many policies as queues. */
export interface PolicyIndex<Policy extends Patterned = BrokerPolicy> {
  readonly byName: ReadonlyMap<string, readonly Policy[]>;
  readonly byPattern: readonly Policy[];
}

/** Anything with a pattern that names queues or exchanges. */
interface Patterned {
  readonly pattern: string;
}

export function indexPolicies<Policy extends Patterned>(policies: readonly Policy[]): PolicyIndex<Policy> {
  const byName = new Map<string, Policy[]>();
  const byPattern: Policy[] = [];
  for (const policy of policies) {
    const name = nameIn(policy.pattern);
    const sameName = name === null ? byPattern : byName.get(name);
    if (sameName === undefined) byName.set(name as string, [policy]);
    else sameName.push(policy);
  }
  return { byName, byPattern };
}

/** The policies whose pattern matches a name, whatever they apply to. */
export function policiesNaming<Policy extends Patterned>(index: PolicyIndex<Policy>, name: string): readonly Policy[] {
  const named = index.byName.get(name) ?? [];
  if (index.byPattern.length === 0) return named;
  return [...named, ...index.byPattern.filter(({ pattern }) => patternMatches(pattern, name))];
}

/** The one name that a pattern such as `^orders\\.work$` matches, or null. */
function nameIn(pattern: string): string | null {
  if (!/^\^(?:[^\\^$.|?*+()[\]{}]|\\[^A-Za-z0-9])*\$$/u.test(pattern)) return null;
  return pattern.slice(1, -1).replaceAll(/\\(.)/gu, "$1");
}

/** The policies that name a queue and are for its type, whether they apply to it as a whole or, with a key that it does not know, not at all. */
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

export function matchPolicies(queue: BrokerQueue, policies: PolicyIndex, rules: VersionRules): MatchedPolicies {
  const { applicable, refused } = policiesFor(queue, policies, rules);
  const ignored = refused.flatMap((policy) => ignoreAll(policy, "not-for-queue-type"));
  const user = highest(applicable, "user");
  const operator = highest(applicable, "operator");
  for (const policy of applicable)
    if (policy !== user && policy !== operator) ignored.push(...ignoreAll(policy, "overridden"));
  return {
    user: withoutUnknownKeys(user, rules, ignored),
    operator: withoutUnknownKeys(operator, rules, ignored),
    ignored,
  };
}

function ignoreAll(policy: BrokerPolicy, why: IgnoredSetting["why"]): IgnoredSetting[] {
  const from = policy.kind === "user" ? "policy" : "operator-policy";
  return Object.keys(policy.definition).map((key) => ({ key, from, why }));
}

/** A broker that does not know a key refuses the policy; read as if from a newer broker, the key is left out. */
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

/** Source: `rabbit_policy:matches/3`, `rabbit_policy:matches_queue_type/3`. */
function isForQueue(policy: BrokerPolicy, kind: QueueKind, rules: VersionRules): boolean {
  switch (policy.applyTo) {
    case "all":
    case "queues":
      return true;
    case "exchanges":
      return false;
    case "classic_queues":
      return rules.policyByQueueType && kind === "classic";
    case "quorum_queues":
      return rules.policyByQueueType && kind === "quorum";
    case "streams":
      return rules.policyByQueueType && kind === "stream";
    default:
      return policy.applyTo satisfies never;
  }
}

/** Of policies with the same priority the broker promises nothing; here it is the first one given. Source: `rabbit_policy:match/3`. */
function highest(policies: readonly BrokerPolicy[], kind: BrokerPolicy["kind"]): BrokerPolicy | null {
  let found: BrokerPolicy | null = null;
  for (const policy of policies) {
    if (policy.kind === kind && (found === null || policy.priority > found.priority)) found = policy;
  }
  return found;
}

/** A pattern that cannot be read matches nothing here; an audit says so. */
function patternMatches(pattern: string, name: string): boolean {
  return patternTestOf(pattern)?.(name) ?? false;
}

/** Source: `rabbit_policies:merge_policy_value/3`, `rabbit_quorum_queue:merge_policy_value/3` (4.3.5). */
export function mergeOperatorValue(
  key: string,
  user: HeaderValue,
  operator: HeaderValue,
  rules: VersionRules,
): HeaderValue {
  switch (key) {
    case "delivery-limit": {
      const isNegative = (value: HeaderValue): boolean => typeof value === "number" && value < 0;
      return rules.negativeDeliveryLimit === "unlimited" && (isNegative(user) || isNegative(operator))
        ? largerTerm(user, operator)
        : smallerTerm(user, operator);
    }
    case "message-ttl":
    case "max-length":
    case "max-length-bytes":
    case "expires":
    case "delayed-retry-max":
      return smallerTerm(user, operator);
    case "delayed-retry-min":
      return largerTerm(user, operator);
    default:
      return operator;
  }
}

/** Erlang orders terms of different types: numbers, then atoms (true, false), maps, lists, and strings last. */
export function smallerTerm(left: HeaderValue, right: HeaderValue): HeaderValue {
  return compareTerms(left, right) <= 0 ? left : right;
}

export function largerTerm(left: HeaderValue, right: HeaderValue): HeaderValue {
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

/** The alternate exchanges that policies give to exchanges. Source: `rabbit_policy:get_arg/3`. */
export function alternatesByPolicy(
  exchanges: readonly BrokerExchange[],
  policies: readonly BrokerPolicy[],
): ReadonlyMap<string, string> {
  const forExchanges = policies.filter(({ applyTo }) => applyTo === "all" || applyTo === "exchanges");
  const alternates = new Map<string, string>();
  if (forExchanges.length === 0) return alternates;
  for (const { name } of exchanges) {
    const policy = highest(
      forExchanges.filter(({ pattern }) => patternMatches(pattern, name)),
      "user",
    );
    const alternate = policy?.definition["alternate-exchange"];
    if (typeof alternate === "string") alternates.set(name, alternate);
  }
  return alternates;
}
