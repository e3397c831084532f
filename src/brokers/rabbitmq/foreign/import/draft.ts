import type { Arguments, BrokerBinding, BrokerPolicy } from "../../prove/semantics.ts";
import type { Shovel } from "../shovels.ts";

/** The events at which the broker itself deletes a resource. Each is false if the source leaves it out. */
export interface Lifetime {
  readonly isTransient: boolean;
  readonly isAutoDelete: boolean;
  readonly isExclusive: boolean;
}

/** An exchange as its source describes it. A plugin may have added its type. */
export interface DraftExchange {
  readonly name: string;
  readonly type: string;
  readonly lifetime: Lifetime;
  readonly arguments: Arguments;
  readonly isInternal?: boolean;
}

export interface DraftQueue {
  readonly name: string;
  /** Its type, if the source names it beside the arguments. */
  readonly type: string | null;
  readonly lifetime: Lifetime;
  readonly arguments: Arguments;
}

/** A policy with a scope that only a newer broker may know. */
export type DraftPolicy = Omit<BrokerPolicy, "applyTo"> & { readonly applyTo: string };

/** A source's description of one virtual host, before its parts are checked against each other. */
export interface DraftVirtualHost {
  readonly name: string;
  /** Its name on the broker, if that is another one. */
  readonly ownName?: string;
  defaultQueueType: string | null;
  readonly exchanges: DraftExchange[];
  readonly queues: DraftQueue[];
  readonly bindings: BrokerBinding[];
  readonly policies: DraftPolicy[];
  readonly shovels: Shovel[];
}

/** The virtual hosts of a source. Each is made when an entry first names it. */
export type Drafts = Map<string, DraftVirtualHost>;

export function draftOf(drafts: Drafts, name: string, ownName = name): DraftVirtualHost {
  const known = drafts.get(name);
  if (known !== undefined) return known;
  const named = name === ownName ? { name } : { name, ownName };
  const draft = {
    ...named,
    defaultQueueType: null,
    exchanges: [],
    queues: [],
    bindings: [],
    policies: [],
    shovels: [],
  };
  drafts.set(name, draft);
  return draft;
}
