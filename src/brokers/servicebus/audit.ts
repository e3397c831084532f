import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnosticsOf } from "../finding.ts";
import { configuredBadly } from "./audit/configured.ts";
import { deadLettersForwardedBadly, forwardedBadly } from "./audit/forwarded.ts";
import { surroundingsOf } from "./audit/surroundings.ts";
import { missingInTier } from "./audit/tier.ts";
import type { ServicebusTarget } from "./capabilities.ts";
import type { Deployment } from "./deployment.ts";
import { placeOf } from "./deployment.ts";

/**
 * Judges topologies that Redeliver did not make, by the same semantics that proves those that it makes. Of consumers and publishers nothing
 * is known, so what is found can happen with some of them.
 *
 * @param upgradeTo what is asked is then only what would be different there; the tiers treat messages alike, so nothing is
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
    ]);
    return [...missingInTier(namespace), ...diagnosticsOf(found, (queue) => placeOf(namespace, queue))];
  });
}
