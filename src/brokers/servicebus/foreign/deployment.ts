import { type Checked, formatPath } from "../../../diagnostics/diagnostic.ts";
import type { Entry } from "../../../foreign/entries.ts";
import type { DeploymentPart } from "../../broker.ts";
import type { ServicebusTarget, Sku } from "../compile/capabilities.ts";
import type { ReadDuration } from "../compile/iso-duration.ts";
import { checkServicebusTarget } from "../compile/target.ts";

/**
 * A resource with Azure's names, regardless of its source. ARM and @pulumi/azure-native have the same names of
 * properties.
 */
export interface NamedResource {
  readonly kind: "namespace" | "queue" | "topic" | "subscription" | "rule";
  readonly namespace: string;
  /**
   * The names below the namespace, so a namespace has none: `["orders"]`, `["orders", "billing"]`, `["orders",
   * "billing", "$Default"]`.
   */
  readonly names: readonly string[];
  readonly properties: Entry;
  /** True for a rule that the input does not show. */
  readonly isAssumed?: true;
}

/** The content of namespaces, regardless of its origin. */
export interface Deployment {
  readonly namespaces: readonly AuditedNamespace[];
}

export interface AuditedNamespace {
  readonly name: string;
  /** Null if unknown. */
  readonly tier: Sku | null;
  readonly entities: readonly AuditedEntity[];
  readonly topics: readonly string[];
  /**
   * True if the deployment has everything in the namespace. Then an entity that is not here does not exist. A stack may
   * be only a part of the namespace.
   */
  readonly isWhole: boolean;
  /** Everything as it came, for a comparison. */
  readonly resources: readonly NamedResource[];
}

/**
 * A queue or subscription with the settings that decide about its messages. Null stands for an unknown setting, and the
 * audit says nothing about that.
 */
export interface AuditedEntity {
  readonly kind: "queue" | "subscription";
  /** A queue's name, or a subscription's path. */
  readonly name: string;
  /** Null for a queue. */
  readonly topic: string | null;
  readonly lock: ReadDuration | null;
  readonly timeToLive: ReadDuration | null;
  readonly autoDelete: ReadDuration | null;
  readonly duplicateWindow: ReadDuration | null;
  readonly maxDeliveryCount: number | null;
  readonly deadLetterOnExpiration: boolean | null;
  readonly requiresSession: boolean | null;
  readonly requiresDuplicateDetection: boolean | null;
  /** Empty if it forwards nowhere. */
  readonly forwardTo: string | null;
  readonly forwardDeadLetteredTo: string | null;
  readonly rules: readonly AuditedRule[];
}

export interface AuditedRule {
  readonly name: string;
  readonly letsInAll: boolean;
}

/** A place in a deployment, as diagnostics write it: `namespaces.shop.queues.orders`. */
export function placeOf(namespace: AuditedNamespace, name: string | null): string {
  const kind = namespace.entities.find((each) => each.name === name)?.kind ?? "queue";
  return formatPath(["namespaces", namespace.name, ...(name === null ? [] : [`${kind}s`, name])]);
}

/** Everything that the audit judges is the same in every tier, so an unknown tier counts as the standard one. */
export function targetOf({ namespaces }: Deployment): Checked<ServicebusTarget | null> {
  return checkServicebusTarget({ broker: "servicebus", sku: namespaces[0]?.tier ?? "standard" });
}

/** Each namespace by itself, because no message is forwarded out of it. */
export function partsOf(deployment: Deployment): readonly DeploymentPart<Deployment>[] {
  return deployment.namespaces.map((namespace) => ({
    name: namespace.name,
    queues: namespace.entities.length,
    deployment: { namespaces: [namespace] },
  }));
}
