import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { exploreUpTo } from "../../explore/explore.ts";
import { auditModel, withSmallLimit } from "./audit/audit-model.ts";
import { blockingCircles } from "./audit/blocking.ts";
import { configuredBadly } from "./audit/configured.ts";
import { fatesOf } from "./audit/fates.ts";
import type { Finding } from "../finding.ts";
import { diagnosticsOf, findingKey } from "../finding.ts";
import { partlyRouted } from "./audit/partial-routes.ts";
import { policyDiagnostics } from "./audit/policy-findings.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import type { Profile } from "./audit/upgrade.ts";
import { profileOf } from "./audit/upgrade.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget } from "./capabilities.ts";
import type { Deployment, VirtualHost } from "./deployment.ts";
import { placeOf } from "./deployment.ts";
import type { EffectiveSettings, SemanticsVersion } from "./semantics.ts";
import { semanticsOf, semanticsVersionOf } from "./semantics.ts";

/** What is looked at of one queue's messages. Of what people run, nothing comes near: a thousand states are much. */
const mostStates = 10_000;

/**
 * Judges topologies that Redeliver did not make, by the same semantics that proves those that it makes.
 *
 * Of the consumers nothing is known, so a message of a consumer's queue may be settled, rejected, given back, left behind, or not
 * be consumed at all; of the publishers nothing but the bindings. What is found can happen with some of them.
 *
 * @param upgradeTo what is asked is then only what would be different there
 */
export function auditDeployment(
  deployment: Deployment,
  target: RabbitmqTarget,
  upgradeTo: RabbitmqTarget | null,
): readonly Diagnostic[] {
  const version = semanticsVersionOf(target);
  return deployment.virtualHosts.flatMap((virtualHost) => {
    const now = lookAt(virtualHost, version);
    const place = (queue: string | null): string =>
      placeOf(virtualHost.name, queue === null ? null : "queues", queue ?? "");
    if (upgradeTo === null) return [...diagnosticsOf(now.findings, place), ...now.policies];
    const next = lookAt(virtualHost, semanticsVersionOf(upgradeTo));
    const names = { from: formatTarget(target), to: formatTarget(upgradeTo) };
    return [
      ...diagnosticsOf(newFindings(now, next, changesOf(now.profiles, next.profiles, names)), place),
      ...next.policies.filter((each) => !now.policies.some((known) => identityOf(known) === identityOf(each))),
    ];
  });
}

/** What is found on one version. What is said about it comes later: what holds of many queues is said once. */
interface Looked {
  readonly findings: readonly Finding[];
  readonly policies: readonly Diagnostic[];
  readonly profiles: readonly Profile[];
}

/** What is found on the later version alone. That a limit no longer counts everything is said once, as the change that it is. */
function newFindings(now: Looked, next: Looked, changes: readonly Finding[]): Finding[] {
  const known = new Set(now.findings.map(findingKey));
  const changed = new Set(changes.map(({ queue }) => queue));
  const fresh = next.findings.filter(
    (each) => !known.has(findingKey(each)) && !(each.code === "RD417" && changed.has(each.queue)),
  );
  return [...fresh, ...changes];
}

function lookAt({ name, topology }: VirtualHost, version: SemanticsVersion): Looked {
  const semantics = semanticsOf(topology, version);
  const small = semanticsOf(topology, version, withSmallLimit);
  const surroundings = surroundingsOf(topology, semantics);
  const findings = new Map<string, Finding>();
  const profiles: Profile[] = [];
  for (const given of topology.queues) {
    const settings = semantics.settings(given.name);
    if (settings === null || settings.kind === "stream") continue;
    const found = configuredBadly(settings, given, topology.policies, surroundings, version);
    if (surroundings.shapeOf(given.name) !== "dead") {
      const model = auditModel(small, surroundings, settings);
      const exploration = exploreUpTo(model, mostStates);
      if (exploration === null) found.push(notJudged(settings));
      else {
        found.push(
          ...fatesOf(model, exploration, settings, surroundings),
          ...partlyRouted(small, surroundings, settings),
        );
        if (surroundings.shapeOf(given.name) === "work") profiles.push(profileOf(model, exploration, settings));
      }
    }
    // What happens in a wait queue is found again from every queue that leads there; the first way to it stands for all.
    for (const each of found) {
      const key = findingKey(each);
      if (!findings.has(key)) findings.set(key, each);
    }
  }
  return {
    findings: [...findings.values(), ...blockingCircles(topology, semantics)],
    policies: policyDiagnostics(name, topology, semantics),
    profiles,
  };
}

function notJudged({ queue }: EffectiveSettings): Finding {
  return {
    code: "RD428",
    queue,
    predicate: `has messages with more than ${mostStates} different histories, and was not looked at further`,
    notes: ["what is said of it comes from its settings alone; that nothing is said of its messages means nothing"],
    help: "give dead letters fewer ways to take: one wait queue for each consumer and delay, by a routing key of its own",
  };
}

/** What is said about a policy is the same where it is said in the same words of the same queues. */
function identityOf({ code, path, message, value }: Diagnostic): string {
  return JSON.stringify([code, path, message, value]);
}

function changesOf(
  now: readonly Profile[],
  next: readonly Profile[],
  { from, to }: { readonly from: string; readonly to: string },
): Finding[] {
  const later = new Map(next.map((profile) => [profile.queue, profile]));
  return now.flatMap(({ queue, fates }): Finding[] => {
    const notes = Object.entries(fates).flatMap(([behaviour, fate]) => {
      const then = later.get(queue)?.fates[behaviour];
      return then === undefined || then === fate ? [] : [`a message ${behaviour}: ${from}: ${fate}; ${to}: ${then}`];
    });
    if (notes.length === 0) return [];
    return [
      {
        code: "RD425",
        queue,
        predicate: `behaves differently on ${to}`,
        notes,
        help: "decide what is wanted there, and set delivery-limit and the dead-letter exchange in a policy before the upgrade",
      },
    ];
  });
}
