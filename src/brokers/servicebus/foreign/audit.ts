import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Sentences, diagnosticsOf, say } from "../../../foreign/finding.ts";
import { configuredBadly } from "./audit/configured.ts";
import { deadLettersDropped } from "./audit/dropped.ts";
import { deadLettersForwardedBadly, forwardedBadly } from "./audit/forwarded.ts";
import { sentences } from "./audit/sentences.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import { missingInTier } from "./audit/tier.ts";
import type { ServicebusTarget } from "../compile/capabilities.ts";
import { type Deployment, placeOf } from "./deployment.ts";

/**
 * Judges topologies that Redeliver did not make, by the semantics that also proves Redeliver's own. The audit knows
 * nothing of consumers and publishers, so a finding can happen with some of them.
 *
 * @param upgradeTo if given, the audit reports only the differences on that target: none, because all tiers treat
 * messages alike
 */
export function auditDeployment(
  { namespaces }: Deployment,
  _target: ServicebusTarget,
  upgradeTo: ServicebusTarget | null,
): readonly Diagnostic[] {
  if (upgradeTo !== null) return [];
  return namespaces.flatMap((namespace) => {
    const surroundings = surroundingsOf(namespace);
    const found = namespace.entities.flatMap((entity) => [
      ...configuredBadly(entity),
      ...forwardedBadly(entity, surroundings),
      ...deadLettersForwardedBadly(entity, surroundings),
      ...deadLettersDropped(entity, surroundings),
    ]);
    return [
      ...missingInTier(namespace),
      ...diagnosticsOf(
        found,
        (each) => say<Sentences>(sentences, each),
        (queue) => placeOf(namespace, queue),
      ),
    ];
  });
}
