import { type Diagnostic, diagnosed } from "../../../../diagnostics/diagnostic.ts";
import { nameSome } from "../../../../foreign/finding.ts";
import { skus } from "../../compile/capabilities.ts";
import { type AuditedEntity, type AuditedNamespace, placeOf } from "../deployment.ts";

/** Finds features that a namespace uses and its tier lacks. */
export function missingInTier(namespace: AuditedNamespace): readonly Diagnostic[] {
  const { name, tier, topics, entities } = namespace;
  if (tier === null) return [];
  const can = skus[tier];
  const named = (isMeant: (entity: AuditedEntity) => boolean): string[] =>
    entities.filter(isMeant).map((entity) => entity.name);
  const asked = {
    topics: can.topics ? [] : [...new Set([...topics, ...entities.flatMap(({ topic }) => topic ?? [])])],
    sessions: can.sessions ? [] : named(({ requiresSession }) => requiresSession === true),
    "duplicate detection": can.duplicateDetection
      ? []
      : named(({ requiresDuplicateDetection }) => requiresDuplicateDetection === true),
    forwarding: can.forwarding ? [] : named((each) => isTold(each.forwardTo) || isTold(each.forwardDeadLetteredTo)),
  };
  const missing = Object.entries(asked).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${what} (${nameSome(names)})`],
  );
  if (missing.length === 0) return [];
  return diagnosed("RD752", {
    path: placeOf(namespace, null),
    message: `${name} is in the ${tier} tier, which has no ${missing.join(", no ")}`,
    notes: ['Service Bus documentation, "Service Bus Premium and Standard messaging tiers"'],
    help: "set the sku of the namespace to Standard",
  });
}

function isTold(destination: string | null): boolean {
  return destination !== null && destination !== "";
}
