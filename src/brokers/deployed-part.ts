/** Something that is deployed under a name that others know. */
export interface DeployedPart {
  /** The broker's word for its kind: `queue`, `exchange`, `topic`, `subscription`. */
  readonly kind: string;
  /** Its name among those of its kind. */
  readonly name: string;
  /** The consumer that it belongs to. Null for a shared part. */
  readonly consumer: string | null;
  /** The key of the source that it is. Left out for other parts. */
  readonly source?: string;
  /** The messages that lie in it. Null if they only pass through. */
  readonly holds: "work" | "waiting" | "dead" | null;
  /** The longest wait of a message in it. Null if it has no end. */
  readonly longestWaitMs: number | null;
  /** The time after which the broker deletes a message. Left out if it deletes none. */
  readonly keepsMs?: number;
  /** Set if somebody else made it. Then only some of its settings are known. */
  readonly owner?: "other";
  /** The settings that cannot change while it exists. */
  readonly fixed: Readonly<Record<string, string | number | boolean>>;
}

/** A resource of a system on a broker that no program declares any more. */
export interface Leftover extends Pick<DeployedPart, "kind" | "name" | "holds" | "longestWaitMs"> {
  /** Its virtual host, region or namespace. */
  readonly place: string;
  /** Requests or commands, in order, that remove it and everything that leads into it. */
  readonly removal: readonly string[];
}
