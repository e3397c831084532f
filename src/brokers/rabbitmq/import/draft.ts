import type { Arguments, BrokerBinding, BrokerPolicy } from "../semantics.ts";

/** An exchange as its source tells it; the type may be one that a plugin adds. */
export interface DraftExchange {
  readonly name: string;
  readonly type: string;
  readonly arguments: Arguments;
}

/** A queue as its source tells it. */
export interface DraftQueue {
  readonly name: string;
  /** Its type, where the source says it beside the arguments. */
  readonly type: string | null;
  /** Whether the default type of the virtual host is for such a queue: one that is durable and neither exclusive nor auto-delete. */
  readonly takesDefaultType: boolean;
  readonly arguments: Arguments;
}

/** A policy whose scope may be one that only a newer broker knows. */
export type DraftPolicy = Omit<BrokerPolicy, "applyTo"> & { readonly applyTo: string };

/** What a source says about one virtual host, before it is known whether it fits together. */
export interface DraftVirtualHost {
  readonly name: string;
  defaultQueueType: string | null;
  readonly exchanges: DraftExchange[];
  readonly queues: DraftQueue[];
  readonly bindings: BrokerBinding[];
  readonly policies: DraftPolicy[];
}

/** The virtual hosts of a source, each made when it is first named. */
export type Drafts = Map<string, DraftVirtualHost>;

export function draftOf(drafts: Drafts, name: string): DraftVirtualHost {
  const known = drafts.get(name);
  if (known !== undefined) return known;
  const draft = { name, defaultQueueType: null, exchanges: [], queues: [], bindings: [], policies: [] };
  drafts.set(name, draft);
  return draft;
}

/** Names the first few of many, so that a message stays readable: `"a", "b", "c" and 997 more`. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((each) => JSON.stringify(each));
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(", ")} and ${more} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
}
