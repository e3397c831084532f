import type { Entry } from "../brokers/entries.ts";

/** What an update is going to do to a resource that is there. */
export interface ResourceChange {
  /** Deleted, because the program has it no more; or replaced, which deletes the old one. */
  readonly kind: "delete" | "replace";
  readonly urn: string;
  readonly type: string;
  /** The name that the program gave it. */
  readonly name: string;
  /** What is known of the resource as it is now. */
  readonly properties: Entry;
  /**
   * Whether Pulumi leaves the resource at the broker: it is retained, or deleted with something that leaves the program as well. What was
   * deployed counts: the program's new options come too late.
   */
  readonly isRetained: boolean;
  /** The properties that force a replacement. */
  readonly reasons: readonly string[];
}
