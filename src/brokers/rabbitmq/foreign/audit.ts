import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Bounds, exploreWithin } from "../../../explore/explore.ts";
import { ownSystemOf } from "./adopt/own-system.ts";
import { auditModel, withSmallLimit } from "./audit/audit-model.ts";
import { blockingCircles } from "./audit/blocking.ts";
import { configuredBadly } from "./audit/configured.ts";
import { fatesOf } from "./audit/fates.ts";
import { goingAway } from "./audit/going-away.ts";
import { diagnosticsOf, findingKey } from "../../../foreign/finding.ts";
import { partlyRouted } from "./audit/partial-routes.ts";
import { policyFindings } from "./audit/policy-findings.ts";
import { policyOrders } from "../prove/policy-orders.ts";
import { exchangeFindings } from "./audit/refused.ts";
import { type Remark, remarkDiagnostic } from "./audit/remarks.ts";
import { type QueueFinding, sentencesOf } from "./audit/sentences.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import { type Profile, changedFates, profileOf } from "./audit/upgrade.ts";
import { type RabbitmqTarget, formatTarget } from "../compile/capabilities.ts";
import { type Deployment, type VirtualHost, placeOf } from "./deployment.ts";
import { type BrokerTopology, type SemanticsVersion, semanticsOf, semanticsVersionOf } from "../prove/semantics.ts";

/** The limit of states for one queue's messages. Real topologies stay far below: a thousand states are many. */
const mostStates = 10_000;

/**
 * The limit of the total length of all states' keys, in characters: for the queues of one cycle of dead-lettering and
 * for a virtual host. After that, each further queue gets the length `late`. A ring of thousands of wait queues would
 * otherwise take minutes and gigabytes.
 */
const mostKeyLength = { cycle: 4_000_000, virtualHost: 200_000_000, late: 2_000 } as const;

/**
 * Judges topologies that Redeliver did not make, by the semantics that also proves Redeliver's own.
 *
 * The audit knows nothing of the consumers. So a message in a consumer's queue may be settled, rejected, requeued, left
 * behind or never consumed. Of the publishers it knows only the bindings. A finding can happen with some of them.
 *
 * @param upgradeTo if given, the audit reports only the differences on that target
 */
export function auditDeployment(
  deployment: Deployment,
  target: RabbitmqTarget,
  upgradeTo: RabbitmqTarget | null,
): readonly Diagnostic[] {
  const version = semanticsVersionOf(target);
  return deployment.virtualHosts.flatMap((virtualHost) => {
    const now = lookAtAll(virtualHost, version);
    const place = (queue: string | null): string =>
      placeOf(virtualHost.name, queue === null ? null : "queues", queue ?? "");
    const said = (findings: readonly QueueFinding[], remarks: readonly Remark[]): readonly Diagnostic[] => [
      ...diagnosticsOf(findings, sentencesOf, place),
      ...remarks.map((each) => remarkDiagnostic(virtualHost.name, each)),
    ];
    if (upgradeTo === null) return said(now.findings, now.remarks);
    const next = lookAtAll(virtualHost, semanticsVersionOf(upgradeTo));
    const names = { from: formatTarget(target), to: formatTarget(upgradeTo) };
    const known = new Set(now.remarks.map(findingKey));
    return said(
      newFindings(now, next, changesOf(now.profiles, next.profiles, names)),
      next.remarks.filter((each) => !known.has(findingKey(each))),
    );
  });
}

type Looked = ReturnType<typeof lookAt>;

/**
 * The findings on the later version alone. RD425 already reports a queue with a changed fate, so RD417 is left out for
 * it.
 */
function newFindings(now: Looked, next: Looked, changes: readonly QueueFinding[]): QueueFinding[] {
  const known = new Set(now.findings.map(findingKey));
  const changed = new Set(changes.map(({ subject }) => subject));
  const fresh = next.findings.filter(
    (each) => !known.has(findingKey(each)) && !(each.code === "RD417" && changed.has(each.subject)),
  );
  return [...fresh, ...changes];
}

/**
 * Looks at a virtual host once for each possible order of its policies. A finding that only some orders have names the
 * policies that come first there.
 */
function lookAtAll({ topology }: VirtualHost, version: SemanticsVersion): Looked {
  const orders = policyOrders(topology, version);
  const looked = orders.map(({ policies }) => lookAt({ ...topology, policies }, version));
  const [first] = looked as [Looked];
  if (looked.length === 1) return first;
  const known = looked.map(({ findings }) => new Set(findings.map(findingKey)));
  const findings = new Map<string, QueueFinding>();
  const remarks = new Map(first.remarks.map((each) => [findingKey(each), each]));
  for (const [index, each] of looked.entries()) {
    const policiesFirst = orders[index]?.first.map((policy) => policy.name) ?? [];
    for (const finding of each.findings) {
      const key = findingKey(finding);
      if (findings.has(key)) continue;
      const isAlways = known.every((keys) => keys.has(key));
      findings.set(key, isAlways ? finding : { ...finding, policiesFirst });
    }
    // The first order already reports that two policies overlap, for both of them.
    for (const remark of each.remarks) if (remark.code !== "RD422") remarks.set(findingKey(remark), remark);
  }
  return { findings: [...findings.values()], remarks: [...remarks.values()], profiles: first.profiles };
}

function lookAt(topology: BrokerTopology, version: SemanticsVersion) {
  const semantics = semanticsOf(topology, version);
  const small = semanticsOf(topology, version, withSmallLimit);
  const surroundings = surroundingsOf(topology, semantics);
  const context = { semantics: small, surroundings };
  const findings = new Map<string, QueueFinding>();
  const budget = budgetOf(small.cycleOf);
  const profiles: Profile[] = [];
  for (const given of topology.queues) {
    const settings = semantics.settings(given.name);
    if (settings === null || settings.kind === "stream") continue;
    // The contract of a consumer of Redeliver's says which failures count.
    const hasContract = ownSystemOf(topology, settings) !== null;
    const configured = configuredBadly(settings, given, topology.policies, surroundings, version);
    const found = [
      ...configured.filter(({ code }) => code !== "RD417" || !hasContract),
      ...goingAway(semantics, surroundings, settings),
    ];
    if (surroundings.shapeOf(given.name) !== "dead") {
      const model = auditModel(small, surroundings, settings);
      const exploration = exploreWithin(model, budget.boundsFor(given.name));
      budget.spend(given.name, exploration.keyLength);
      // The findings can happen even if the exploration is incomplete.
      const explored = { model, exploration, ...context };
      found.push(...fatesOf(explored), ...partlyRouted(small, surroundings, settings));
      if (!exploration.isComplete)
        found.push({ code: "RD428", subject: given.name, facts: {}, evidence: { mostStates } });
      else if (surroundings.shapeOf(given.name) === "work") profiles.push(profileOf(explored, settings));
    }
    // Every queue that leads to a wait queue finds its faults again. The first way to a fault stands for all.
    for (const each of found) {
      const key = findingKey(each);
      if (!findings.has(key)) findings.set(key, each);
    }
  }
  return {
    findings: [...findings.values(), ...blockingCircles(topology, semantics)],
    remarks: [
      ...policyFindings(topology, semantics),
      ...exchangeFindings(topology, semantics, surroundings.alternates),
    ],
    profiles,
  };
}

/** Hands out the limits, queue by queue. */
function budgetOf(cycleOf: (queue: string) => number | undefined): {
  readonly boundsFor: (queue: string) => Bounds;
  readonly spend: (queue: string, keyLength: number) => void;
} {
  let left: number = mostKeyLength.virtualHost;
  const spent = new Map<number | undefined, number>();
  const leftFor = (queue: string): number => mostKeyLength.cycle - (spent.get(cycleOf(queue)) ?? 0);
  return {
    boundsFor: (queue) => ({
      states: mostStates,
      keyLength: Math.max(mostKeyLength.late, Math.min(left, leftFor(queue))),
    }),
    spend: (queue, keyLength) => {
      left -= keyLength;
      const cycle = cycleOf(queue);
      spent.set(cycle, (spent.get(cycle) ?? 0) + keyLength);
    },
  };
}

function changesOf(
  now: readonly Profile[],
  next: readonly Profile[],
  { from, to }: { readonly from: string; readonly to: string },
): QueueFinding[] {
  const later = new Map(next.map((profile) => [profile.queue, profile]));
  return now.flatMap((profile): QueueFinding[] => {
    const changes = changedFates(profile, later.get(profile.queue));
    if (changes.length === 0) return [];
    return [{ code: "RD425", subject: profile.queue, facts: { to }, evidence: { from, changes } }];
  });
}
