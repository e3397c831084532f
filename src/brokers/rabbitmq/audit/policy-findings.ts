import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { placeOf } from "../deployment.ts";
import type { BrokerPolicy, BrokerTopology, EffectiveSettings, Semantics } from "../semantics.ts";
import { indexPolicies, isPatternReadable, policiesFor, versionRules } from "../semantics.ts";
import { nameSome, nameText } from "../../finding.ts";

const retryKeys = /^(dead-letter-|message-ttl|expires|max-length|overflow|delivery-limit|delayed-retry-)/;

/**
 * Policies that are set aside for some queue: only one user policy and one operator policy apply to a queue, whole, and one with a key that
 * the queue's type does not know applies not at all.
 */
export function policyDiagnostics(virtualHost: string, topology: BrokerTopology, semantics: Semantics): Diagnostic[] {
  const index = indexPolicies(topology.policies);
  const rules = versionRules[semantics.version];
  const shadowed = new Map<
    string,
    { readonly winner: BrokerPolicy; readonly loser: BrokerPolicy; readonly queues: string[] }
  >();
  const refusals = new Map<string, Refusal>();
  for (const queue of topology.queues) {
    const { applicable, refused } = policiesFor(queue, index, rules);
    for (const policy of refused) {
      const key = JSON.stringify([policy.kind, policy.name, queue.kind]);
      collect(refusals, key, { policy, kind: queue.kind, queues: [] }).queues.push(queue.name);
    }
    for (const kind of ["user", "operator"] as const) {
      const ofKind = applicable.filter((policy) => policy.kind === kind);
      const winner = ofKind.reduce<BrokerPolicy | undefined>(
        (best, each) => (best !== undefined && best.priority >= each.priority ? best : each),
        undefined,
      );
      if (winner === undefined || ofKind.length === 1) continue;
      for (const loser of ofKind) {
        if (loser === winner || keysLost(winner, loser).length === 0) continue;
        collect(shadowed, JSON.stringify([kind, winner.name, loser.name]), { winner, loser, queues: [] }).queues.push(
          queue.name,
        );
      }
    }
  }
  return [
    ...[...shadowed.values()].map((each) => overlapping(virtualHost, each)),
    ...[...refusals.values()].flatMap((each) => inapplicable(virtualHost, each, rules.policyByQueueType)),
    ...withoutEffect(virtualHost, topology, semantics),
    ...topology.policies.flatMap((policy) => unreadable(virtualHost, policy)),
  ];
}

function collect<Key, Value>(map: Map<Key, Value>, key: Key, fresh: Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  map.set(key, fresh);
  return fresh;
}

/** The keys about retries that the losing policy sets and the winning one does not set in the same way. */
function keysLost(winner: BrokerPolicy, loser: BrokerPolicy): string[] {
  return Object.keys(loser.definition).filter(
    (key) => retryKeys.test(key) && JSON.stringify(loser.definition[key]) !== JSON.stringify(winner.definition[key]),
  );
}

function lostText(winner: BrokerPolicy, loser: BrokerPolicy, isTie: boolean): string {
  const lost = keysLost(winner, loser);
  const verb = isTie ? "may not apply" : lost.length === 1 ? "does not apply" : "do not apply";
  return `${lost.join(", ")} of ${nameText(loser.name)} ${verb}`;
}

function overlapping(
  virtualHost: string,
  {
    winner,
    loser,
    queues,
  }: { readonly winner: BrokerPolicy; readonly loser: BrokerPolicy; readonly queues: readonly string[] },
): Diagnostic {
  const isTie = winner.priority === loser.priority;
  return diagnostic("RD422", {
    path: placeOf(virtualHost, "policies", loser.name),
    message: isTie
      ? `the policies ${nameText(winner.name)} and ${nameText(loser.name)} have the same priority ${winner.priority} and match the same queues: which one applies is not defined`
      : `the policy ${nameText(loser.name)} is without effect where ${nameText(winner.name)} applies, which has priority ${winner.priority} over its ${loser.priority}`,
    value: queues.length === 1 ? queues[0] : queues,
    notes: [`policies are not merged: ${lostText(winner, loser, isTie)} to ${nameSome(queues)}`],
    help: "give the queues one policy that says everything, and anchor patterns with ^ and $",
  });
}

interface Refusal {
  readonly policy: BrokerPolicy;
  readonly kind: string;
  readonly queues: string[];
}

function inapplicable(virtualHost: string, { policy, kind, queues }: Refusal, canNameQueueType: boolean): Diagnostic[] {
  const lost = Object.keys(policy.definition).filter((key) => retryKeys.test(key));
  // A policy about mirroring alone has nothing to do with retries.
  if (lost.length === 0) return [];
  return [
    diagnostic("RD423", {
      path: placeOf(virtualHost, "policies", policy.name),
      message: `the policy ${nameText(policy.name)} is without effect on ${kind} queues`,
      value: queues.length === 1 ? queues[0] : queues,
      notes: [
        `it has a key that ${kind} queues do not know, and such a policy is set aside as a whole: ${lost.join(", ")} not in force for ${nameSome(queues)}`,
      ],
      help: canNameQueueType
        ? `make a policy of its own for each type of queue, with apply-to ${kind === "stream" ? "streams" : `${kind}_queues`}`
        : "make a policy of its own for each type of queue, with a pattern that only queues of that type match: this version has no apply-to for one type",
    }),
  ];
}

const whyIgnored: Readonly<Record<string, string>> = {
  "wrong-type": "its value makes no sense to the broker",
  "unknown-to-version": "this version does not know it",
  "not-for-queue-type": "queues of this type do not know it",
  "needs-another-setting": "it needs another setting that is not there",
};

/** Keys of a policy that applies, which do nothing: said once for each policy, with the queues. */
function withoutEffect(virtualHost: string, { queues, policies }: BrokerTopology, semantics: Semantics): Diagnostic[] {
  const groups = new Map<
    string,
    { readonly policy: BrokerPolicy; readonly key: string; readonly why: string; readonly queues: string[] }
  >();
  const byName = new Map(policies.map((policy) => [JSON.stringify([policy.kind, policy.name]), policy]));
  for (const { name } of queues) {
    const settings = semantics.settings(name);
    for (const { key, from, why } of settings === null ? [] : settings.ignored) {
      if (from === "argument" || !(why in whyIgnored) || !retryKeys.test(key)) continue;
      const policy = policyInForce(byName, settings, from);
      // A policy that is set aside as a whole is told of as such.
      if (policy?.definition[key] === undefined) continue;
      collect(groups, JSON.stringify([from, policy.name, key, why]), { policy, key, why, queues: [] }).queues.push(
        name,
      );
    }
  }
  return [...groups.values()].map(({ policy, key, why, queues: named }) => {
    const common = {
      path: placeOf(virtualHost, "policies", policy.name),
      value: named.length === 1 ? named[0] : named,
    };
    if (key === "dead-letter-strategy" && why === "needs-another-setting") {
      return diagnostic("RD418", {
        ...common,
        message: `the policy ${nameText(policy.name)} asks for at-least-once dead-lettering and does not get it`,
        notes: [
          `these queues: ${nameSome(named)}`,
          "it is in force only with overflow reject-publish and a dead-letter exchange; a dead letter can be lost on its way",
        ],
        help: "set overflow to reject-publish and a dead-letter exchange in the same policy",
      });
    }
    return diagnostic("RD423", {
      ...common,
      message: `the policy ${nameText(policy.name)} has the key ${key} without effect`,
      notes: [
        `${key} is ${JSON.stringify(policy.definition[key])}; ${whyIgnored[why]} (by the rules of ${semantics.version} and later); these queues: ${nameSome(named)}`,
      ],
      help: "correct the value, add what it needs, or take the key out of the policy",
    });
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

function unreadable(virtualHost: string, policy: BrokerPolicy): Diagnostic[] {
  if (isPatternReadable(policy.pattern)) return [];
  return [
    diagnostic("RD427", {
      path: placeOf(virtualHost, "policies", policy.name),
      value: policy.pattern,
      message: `the pattern of the policy ${nameText(policy.name)} cannot be read`,
      notes: [
        "it is judged as if it matched nothing, though the broker may read it: a finding about the queues it names may be wrong, and one may be missing",
      ],
      help: "write it with what is common to most dialects: ^ $ . * + ? | () [] and a backslash before a character that is to stand for itself",
    }),
  ];
}
