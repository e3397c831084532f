import type { StayingResource } from "../brokers/broker.ts";
import type { Entry } from "../foreign/entries.ts";
import type { AskedResource, RuleText, Violation } from "./rule.ts";

/** A deletion or a replacement of a resource in an update. */
export interface ResourceChange extends Pick<AskedResource, "type" | "urn" | "name"> {
  /** Deleted because the program no longer has it, or replaced, which deletes the old one. */
  readonly kind: "delete" | "replace";
  /** The known properties of the resource before the update. */
  readonly properties: Entry;
  /**
   * True if Pulumi leaves the resource at the broker: it is retained, or it is deleted with a resource that also leaves
   * the program. The deployed options count, because the program's new options come too late.
   */
  readonly isRetained: boolean;
  /** The properties that force a replacement. */
  readonly reasons: readonly string[];
}

/** A rule on changes. Pulumi shows a policy pack no changes, so the rule judges previews alone. */
export interface ChangeRule extends RuleText {
  readonly kind: "change";
  /** The rule is silent about resources of other types. */
  readonly types: readonly string[];
  /** @param staying the resources that are on the broker after the update */
  readonly judge: (change: ResourceChange, staying: readonly StayingResource[]) => readonly Violation[];
}
