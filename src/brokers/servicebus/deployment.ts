import type { Checked } from "../../diagnostics/diagnostic.ts";
import { formatPath } from "../../diagnostics/diagnostic.ts";
import type { DeploymentPart } from "../broker.ts";
import type { ServicebusTarget, Sku } from "./capabilities.ts";
import type { ReadDuration } from "./iso-duration.ts";
import { checkServicebusTarget } from "./target.ts";

/** What namespaces hold, whoever made it. */
export interface Deployment {
  readonly namespaces: readonly AuditedNamespace[];
}

export interface AuditedNamespace {
  readonly name: string;
  /** Null where it is not told. */
  readonly tier: Sku | null;
  readonly entities: readonly AuditedEntity[];
  readonly topics: readonly string[];
  /** Whether everything that the namespace has is here, so that what is not here does not exist. A stack may be a part of it. */
  readonly isWhole: boolean;
}

/** A queue or subscription with what decides about its messages; null stands for what is not told, and nothing is said of that. */
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
  /** The empty text for none. */
  readonly forwardTo: string | null;
  readonly forwardDeadLetteredTo: string | null;
  /** Of a subscription, as far as they are told. */
  readonly rules: readonly AuditedRule[];
}

export interface AuditedRule {
  readonly name: string;
  readonly letsInAll: boolean;
}

/** Where something is in a deployment, as diagnostics write it: `namespaces.shop.queues.orders`. */
export function placeOf(namespace: AuditedNamespace, name: string | null): string {
  const kind = namespace.entities.find((each) => each.name === name)?.kind ?? "queue";
  return formatPath(["namespaces", namespace.name, ...(name === null ? [] : [`${kind}s`, name])]);
}

/** A namespace tells its own tier; all else that is judged is the same in each. */
export function targetOf(): Checked<ServicebusTarget | null> {
  return checkServicebusTarget({ broker: "servicebus", sku: "standard" });
}

/** Each namespace by itself: nothing is forwarded out of it. */
export function partsOf(deployment: Deployment): readonly DeploymentPart<Deployment>[] {
  return deployment.namespaces.map((namespace) => ({
    name: namespace.name,
    queues: namespace.entities.length,
    deployment: { namespaces: [namespace] },
  }));
}
