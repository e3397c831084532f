import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { placeOf } from "../deployment.ts";
import type { BrokerPolicy, BrokerTopology, SemanticsVersion } from "../semantics.ts";
import { indexPolicies, policiesFor, versionRules } from "../semantics.ts";

const retryKeys = /^(dead-letter-|message-ttl|expires|max-length|overflow|delivery-limit|delayed-retry-)/;

/**
 * Policies that are set aside for some queue: only one user policy and one operator policy apply to a queue, whole, and one with a key that
 * the queue's type does not know applies not at all.
 */
export function policyDiagnostics(
  virtualHost: string,
  topology: BrokerTopology,
  version: SemanticsVersion,
): Diagnostic[] {
  const index = indexPolicies(topology.policies);
  const rules = versionRules[version];
  const shadowed = new Map<
    string,
    { readonly winner: BrokerPolicy; readonly loser: BrokerPolicy; readonly queues: string[] }
  >();
  const refusals = new Map<BrokerPolicy, { readonly kind: string; readonly queues: string[] }>();
  for (const queue of topology.queues) {
    const { applicable, refused } = policiesFor(queue, index, rules);
    for (const policy of refused) collect(refusals, policy, { kind: queue.kind, queues: [] }).queues.push(queue.name);
    for (const kind of ["user", "operator"] as const) {
      const ofKind = applicable.filter((policy) => policy.kind === kind);
      const winner = ofKind.reduce<BrokerPolicy | undefined>(
        (best, each) => (best !== undefined && best.priority >= each.priority ? best : each),
        undefined,
      );
      if (winner === undefined || ofKind.length === 1) continue;
      for (const loser of ofKind) {
        if (loser === winner || keysLost(winner, loser).length === 0) continue;
        collect(shadowed, `${winner.name}\u0000${loser.name}`, { winner, loser, queues: [] }).queues.push(queue.name);
      }
    }
  }
  return [
    ...[...shadowed.values()].map((each) => overlapping(virtualHost, each)),
    ...[...refusals].flatMap(([policy, each]) => inapplicable(virtualHost, policy, each)),
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
      ? `the policies ${winner.name} and ${loser.name} have the same priority ${winner.priority} and match the same queues: which one applies is not defined`
      : `the policy ${loser.name} is without effect where ${winner.name} applies, which has priority ${winner.priority} over its ${loser.priority}`,
    value: queues.length === 1 ? queues[0] : queues,
    notes: [
      `policies are not merged: ${keysLost(winner, loser).join(", ")} of ${loser.name} ${isTie ? "may not apply" : "do not apply"} to ${nameSome(queues)}`,
    ],
    help: "give the queues one policy that says everything, and anchor patterns with ^ and $",
  });
}

function inapplicable(
  virtualHost: string,
  policy: BrokerPolicy,
  { kind, queues }: { readonly kind: string; readonly queues: readonly string[] },
): Diagnostic[] {
  const lost = Object.keys(policy.definition).filter((key) => retryKeys.test(key));
  // A policy about mirroring alone has nothing to do with retries.
  if (lost.length === 0) return [];
  return [
    diagnostic("RD423", {
      path: placeOf(virtualHost, "policies", policy.name),
      message: `the policy ${policy.name} is without effect on ${kind} queues`,
      value: queues.length === 1 ? queues[0] : queues,
      notes: [
        `it has a key that ${kind} queues do not know, and such a policy is set aside as a whole: ${lost.join(", ")} not in force for ${nameSome(queues)}`,
      ],
      help: `make a policy of its own for each type of queue, with apply-to ${kind}_queues`,
    }),
  ];
}

function nameSome(queues: readonly string[]): string {
  const shown = queues.slice(0, 10).join(", ");
  return queues.length > 10 ? `${shown} and ${queues.length - 10} more` : shown;
}
