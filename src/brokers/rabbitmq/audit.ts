import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { explore } from "../../explore/explore.ts";
import { auditModel, withSmallLimit } from "./audit/audit-model.ts";
import { configuredBadly } from "./audit/configured.ts";
import { fatesOf } from "./audit/fates.ts";
import type { Finding } from "./audit/finding.ts";
import { diagnosticsOf } from "./audit/finding.ts";
import { policyDiagnostics } from "./audit/policy-findings.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import type { Profile } from "./audit/upgrade.ts";
import { profileOf } from "./audit/upgrade.ts";
import type { RabbitmqTarget } from "./capabilities.ts";
import { formatTarget } from "./capabilities.ts";
import type { Deployment, VirtualHost } from "./deployment.ts";
import type { SemanticsVersion } from "./semantics.ts";
import { semanticsOf, semanticsVersionOf } from "./semantics.ts";

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
    if (upgradeTo === null) return now.diagnostics;
    const next = lookAt(virtualHost, semanticsVersionOf(upgradeTo));
    const known = new Set(now.diagnostics.map(identityOf));
    const names = { from: formatTarget(target), to: formatTarget(upgradeTo) };
    return [
      ...next.diagnostics.filter((each) => !known.has(identityOf(each))),
      ...diagnosticsOf(virtualHost.name, changesOf(now.profiles, next.profiles, names)),
    ];
  });
}

function lookAt(
  { name, topology }: VirtualHost,
  version: SemanticsVersion,
): { readonly diagnostics: readonly Diagnostic[]; readonly profiles: readonly Profile[] } {
  const semantics = semanticsOf(topology, version);
  const small = semanticsOf(topology, version, withSmallLimit);
  const surroundings = surroundingsOf(topology, semantics);
  const findings = new Map<string, Finding>();
  const profiles: Profile[] = [];
  for (const given of topology.queues) {
    const settings = semantics.settings(given.name);
    if (settings === null || settings.kind === "stream") continue;
    const found = configuredBadly(settings, given, surroundings, version);
    if (surroundings.shapeOf(given.name) !== "dead") {
      const model = auditModel(small, surroundings, settings);
      const exploration = explore(model);
      found.push(...fatesOf(model, exploration, settings));
      if (surroundings.shapeOf(given.name) === "work") profiles.push(profileOf(model, exploration, settings));
    }
    // What happens in a wait queue is found again from every queue that leads there; the first way to it stands for all.
    for (const each of found) {
      const key = `${each.code}\u0000${each.queue}\u0000${each.predicate}`;
      if (!findings.has(key)) findings.set(key, each);
    }
  }
  const policies = policyDiagnostics(name, topology, version);
  return { diagnostics: [...diagnosticsOf(name, [...findings.values()]), ...policies], profiles };
}

/** The same finding has the same code and place on every version, whatever the way to it is there. */
function identityOf({ code, path, message }: Diagnostic): string {
  return `${code} ${path} ${message}`;
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
