import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { nameSome } from "../../finding.ts";
import { skus } from "../capabilities.ts";
import type { AuditedEntity, AuditedNamespace } from "../deployment.ts";
import { placeOf } from "../deployment.ts";

/** What a namespace is to hold, and its tier does not have. */
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
  return [
    diagnostic("RD752", {
      path: placeOf(namespace, null),
      message: `${name} is in the ${tier} tier, which has no ${missing.join(", no ")}`,
      notes: ['Service Bus documentation, "Service Bus Premium and Standard messaging tiers"'],
      help: "set the sku of the namespace to Standard",
    }),
  ];
}

function isTold(destination: string | null): boolean {
  return destination !== null && destination !== "";
}
