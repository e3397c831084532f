import type { BrokerPolicy, BrokerTopology, EffectiveSettings, Semantics } from "../../prove/semantics.ts";
import { highest, indexPolicies, isPatternReadable, policiesFor, versionRules } from "../../prove/semantics.ts";
import type { Remark, WhyIgnored } from "./remarks.ts";

const retryKeys = /^(dead-letter-|message-ttl|expires|max-length|overflow|delivery-limit|delayed-retry-)/;

/**
 * Finds policies that do not apply to some queue. Only one user policy and one operator policy apply to a queue, each
 * as a whole. A policy with a key that the queue's type does not know does not apply at all.
 */
export function policyFindings(topology: BrokerTopology, semantics: Semantics): Remark[] {
  const index = indexPolicies(topology.policies);
  const rules = versionRules[semantics.version];
  const shadowed = new Map<string, Shadow>();
  const refusals = new Map<string, Refusal>();
  for (const queue of topology.queues) {
    const { applicable, refused } = policiesFor(queue, index, rules);
    for (const policy of refused) {
      const key = JSON.stringify([policy.kind, policy.name, queue.kind]);
      collect(refusals, key, { policy, kind: queue.kind, queues: [] }).queues.push(queue.name);
    }
    for (const kind of ["user", "operator"] as const) {
      const ofKind = applicable.filter((policy) => policy.kind === kind);
      const winner = highest(applicable, kind);
      if (winner === null || ofKind.length === 1) continue;
      for (const loser of ofKind) {
        if (loser === winner || isHarmless(winner, loser)) continue;
        collect(shadowed, JSON.stringify([kind, winner.name, loser.name]), { winner, loser, queues: [] }).queues.push(
          queue.name,
        );
      }
    }
  }
  return [
    ...[...shadowed.values()].map(overlapping),
    ...[...refusals.values()].flatMap((each) => inapplicable(each, rules.policyByQueueType)),
    ...withoutEffect(topology, semantics),
    ...topology.policies.flatMap(unreadable),
  ];
}

function collect<Key, Value>(map: Map<Key, Value>, key: Key, fresh: Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  map.set(key, fresh);
  return fresh;
}

/** The keys about retries that the losing policy sets and the winning policy lacks or sets to another value. */
function keysLost(winner: BrokerPolicy, loser: BrokerPolicy): string[] {
  return Object.keys(loser.definition).filter(
    (key) => retryKeys.test(key) && JSON.stringify(loser.definition[key]) !== JSON.stringify(winner.definition[key]),
  );
}

/** If two policies have the same priority, either of them may be the one that does not apply. */
function isHarmless(winner: BrokerPolicy, loser: BrokerPolicy): boolean {
  if (keysLost(winner, loser).length > 0) return false;
  return winner.priority !== loser.priority || keysLost(loser, winner).length === 0;
}

interface Shadow {
  readonly winner: BrokerPolicy;
  readonly loser: BrokerPolicy;
  readonly queues: string[];
}

function overlapping({ winner, loser, queues }: Shadow): Remark {
  return {
    code: "RD422",
    subject: loser.name,
    facts: { winner: winner.name, priorities: [loser.priority, winner.priority], queues },
    evidence: { lost: keysLost(winner, loser), lostOfWinner: keysLost(loser, winner) },
  };
}

interface Refusal {
  readonly policy: BrokerPolicy;
  readonly kind: string;
  readonly queues: string[];
}

function inapplicable({ policy, kind, queues }: Refusal, canNameQueueType: boolean): Remark[] {
  const lost = Object.keys(policy.definition).filter((key) => retryKeys.test(key));
  // A policy about mirroring alone does not concern retries.
  if (lost.length === 0) return [];
  return [
    { code: "RD423", subject: policy.name, facts: { queueKind: kind, queues }, evidence: { lost, canNameQueueType } },
  ];
}

/** Finds keys without effect in a policy that applies. Each policy gets one finding with all its queues. */
function withoutEffect({ queues, policies }: BrokerTopology, semantics: Semantics): Remark[] {
  const groups = new Map<
    string,
    { readonly policy: BrokerPolicy; readonly key: string; readonly why: WhyIgnored; readonly queues: string[] }
  >();
  const byName = new Map(policies.map((policy) => [JSON.stringify([policy.kind, policy.name]), policy]));
  for (const { name } of queues) {
    const settings = semantics.settings(name);
    for (const { key, from, why } of settings === null ? [] : settings.ignored) {
      if (from === "argument" || why === "overridden" || !retryKeys.test(key)) continue;
      const policy = policyInForce(byName, settings, from);
      // `policyFindings` reports a policy that does not apply at all.
      if (policy?.definition[key] === undefined) continue;
      collect(groups, JSON.stringify([from, policy.name, key, why]), { policy, key, why, queues: [] }).queues.push(
        name,
      );
    }
  }
  return [...groups.values()].map(({ policy, key, why, queues: named }): Remark => {
    const subject = policy.name;
    if (key === "dead-letter-strategy" && why === "needs-another-setting")
      return { code: "RD418", subject, facts: { queues: named } };
    const evidence = { value: policy.definition[key], why, version: semantics.version };
    return { code: "RD423", subject, facts: { key, queues: named }, evidence };
  });
}

function policyInForce(
  byName: ReadonlyMap<string, BrokerPolicy>,
  settings: EffectiveSettings | null,
  from: "policy" | "operator-policy",
): BrokerPolicy | undefined {
  const [kind, name] = from === "policy" ? ["user", settings?.policy] : ["operator", settings?.operatorPolicy];
  return byName.get(JSON.stringify([kind, name]));
}

function unreadable({ name, pattern }: BrokerPolicy): Remark[] {
  return isPatternReadable(pattern) ? [] : [{ code: "RD427", subject: name, facts: { pattern } }];
}
