import type { QueueSettings } from "../declare/queue-arguments.ts";
import type { Consumer, SourceInput } from "../declare/system.ts";

/** A value, and the resource with the argument or the binding that it was inferred from. */
export interface Inferred<Value> {
  readonly value: Value;
  readonly from: string;
}

/** A place that messages come from, as the way into a queue shows it. */
export interface FoundSource {
  /** Its name on the broker. */
  readonly name: string;
  /** Its name in the declaration, unless that is the one on the broker. */
  readonly key?: string;
  readonly kind: SourceInput["kind"];
  /** The type of an opaque source. */
  readonly type?: string;
  /** As in a declaration. */
  readonly keys: NonNullable<Consumer["from"]>[string];
  /** True if its name shows that the system made it. */
  readonly isOwn: boolean;
  /** True if no system can make it, so nobody has to decide that. */
  readonly isForeign?: boolean;
  readonly from: string;
}

/** The consumer of one work queue, as far as a broker shows it. */
export interface FoundConsumer {
  readonly queue: string;
  /** Its name in the declaration, unless that follows from the name of the queue. */
  readonly key?: string;
  /** True if a deployment makes its work queue, because it receives from another entity today. */
  readonly isNewQueue?: boolean;
  /** The facts that make it a work queue. */
  readonly from: string;
  /** Empty if producers send straight to the queue. */
  readonly sources: readonly FoundSource[];
  /** True if a rejected message is lost. */
  readonly isLossy: boolean;
  /** The delay before each attempt after the first, in milliseconds. */
  readonly delaysMs: Inferred<readonly number[]>;
  readonly crashDeliveries?: Inferred<number> | undefined;
  readonly handlerTimeoutMs?: Inferred<number> | undefined;
  readonly retainMs?: Inferred<number> | undefined;
  /** The name of its dead queue. Left out if the broker shows none, or names it itself. */
  readonly dead?: Inferred<string> | undefined;
  /** The queue for parked letters. Left out if there is none with its name. */
  readonly parked?: Inferred<string> | undefined;
  /** The arguments of its own that the work queue has. Left out if it has none that a declaration knows. */
  readonly queueArguments?: Inferred<NonNullable<Consumer["queueArguments"]>> | undefined;
  /** Arguments that not every strategy allows. Without such a strategy, the facts stand in their place. */
  readonly lengthLimits?:
    | (Inferred<NonNullable<Consumer["queueArguments"]>> & { readonly unsaid: readonly Unsaid[] })
    | undefined;
  /** Set if the work queue can stay, and a policy gets its settings. */
  readonly queueSettings?: Inferred<QueueSettings> | undefined;
  /** The same of its dead queue. */
  readonly deadQueueSettings?: Inferred<QueueSettings> | undefined;
  readonly order?: Inferred<"per-key"> | undefined;
  /** Settings of the target for this consumer alone, by their names there. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A fact about a broker that a declaration cannot say, with the reason. */
export interface Unsaid {
  /** The queue, exchange or topic. */
  readonly place: string;
  readonly fact: string;
  /** True if messages are lost by it today. */
  readonly isLoss?: true;
}

/** Puts the places of one fact together, so that nobody reads it once for each of many consumers. */
export function groupedByFact(unsaid: readonly Unsaid[]): readonly Unsaid[] {
  return [...Map.groupBy(unsaid, ({ fact }) => fact).values()].map((all) => ({
    ...(all[0] as Unsaid),
    place: [...new Set(all.map(({ place }) => place))].join(", "),
  }));
}

/** The words about the exchanges or entities that lead into a source. */
export function leadingInto(names: Iterable<string>): string {
  const all = [...new Set(names)];
  if (all.length === 0) return "";
  return `; ${all.slice(0, 5).join(", ")} ${all.length === 1 ? "leads into it and stays as it is" : "lead into it and stay as they are"}`;
}

/** The consumers on a broker, and the rest of it. */
export interface FoundSystem {
  /** The name of the system if Redeliver made the resources. */
  readonly name: string | null;
  /** The strategy that shows in the resources. Null if none does, or several do. */
  readonly strategy: string | null;
  /** Settings of the target that show in the resources. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly consumers: readonly FoundConsumer[];
  /** The names of all queues. Left out if the broker names dead queues itself. */
  readonly queues?: readonly string[];
  /** The names that no new queue may have. */
  readonly taken?: readonly string[];
  /** Sources of the system that no consumer takes from. */
  readonly unusedSources: readonly FoundSource[];
  /** The consumers that no declaration can have, with the reason. */
  readonly refused?: readonly Unsaid[];
  readonly unsaid: readonly Unsaid[];
}

/** An entry of a file for `pulumi import --file`. Source: `importSpec` in Pulumi's `pkg/cmd/pulumi/operations/import.go`. */
export interface ImportEntry {
  readonly type: string;
  /** An identifier within the file. */
  readonly name: string;
  /** The name that the component gives the resource. */
  readonly logicalName?: string;
  readonly id?: string;
  readonly parent?: string;
  readonly component?: true;
}

/** An old queue, and what may still come into it when its consumer has gone. */
export interface StillUsed {
  readonly queue: string;
  /** Messages that come into it, such as `the dead letters of billing`. As long as they do, nobody may delete it. */
  readonly feeders: readonly string[];
  /** The exchanges by which programs can publish into it, with the keys. */
  readonly publishers: readonly string[];
}

/** A consumer that needs a new queue, because one of its queues is there with arguments that cannot change. */
export interface Move {
  readonly consumer: string;
  readonly queue: string;
  /** A name for the new queue. If a queue has it, Redeliver made that queue for this move. */
  readonly next: string;
  /** Its dead queue, if that is there and can stay. The new queue gets it, too. */
  readonly keptDead: string | null;
  /** The default name of the new queue's dead queue. */
  readonly nextDead: string;
  /** The letters of its dead queue. Null if there is no dead queue yet. */
  readonly letters: LettersOut | null;
  /** The requests that end the ways into the old queue that the new one has as well. */
  readonly unbind: readonly string[];
  /** The exchanges among these ways that give each message to one of their queues. */
  readonly choosing: readonly string[];
  /** The ways into its dead queue that nothing needs after the move. */
  readonly oldWays: OldWays;
  /** The other exchanges that lead into the old queue, so that producers may use them. */
  readonly staying: readonly string[];
  /** Those of them by which waiting messages come back. Producers hardly use them, and nothing shows that none does. */
  readonly backWays: readonly string[];
  /** The queues where its messages wait, and no others. */
  readonly waits: readonly string[];
  /** The waiting queues of several consumers, whose messages come back to the old queue. */
  readonly sharedWaits: readonly string[];
  /** The old queue and `waits`. */
  readonly used: readonly StillUsed[];
  /** The waiting queues, also of several consumers, whose messages come back by the ways that the new queue takes over. */
  readonly takenOver: readonly string[];
  /** The requests that delete the old queue and its waiting queues that nothing else leads into. */
  readonly remove: readonly string[];
  /** True if the queue has a single active consumer, so that its messages are handled in their order. */
  readonly isOrdered: boolean;
}

/** A consumer that keeps its queue, and the remains of its old retries. */
export interface Stay {
  readonly consumer: string;
  readonly queue: string;
  /** True if the queue has its settings from Redeliver already. */
  readonly isDeployed: boolean;
  /** Its declared dead queue. */
  readonly deadQueue: string | null;
  /** The letters of its dead queue, if the declaration has another one. */
  readonly letters: LettersOut | null;
  /** The queues where its messages wait, and no others. */
  readonly waits: readonly string[];
  /** The same queues. */
  readonly used: readonly StillUsed[];
  /** The requests that delete those that nothing else leads into. */
  readonly remove: readonly string[];
  /** The other ways into its work queue and its dead queue. */
  readonly oldWays: OldWays;
}

/** Bindings that no declared message takes, by the exchange that they come from. */
export interface OldWays {
  /** Those that only the old code uses. */
  readonly ends: readonly {
    readonly source: string;
    /** Empty if the bindings have none. */
    readonly keys: readonly string[];
    /** The old queues with messages that still come this way. */
    readonly behind: readonly string[];
    /** The requests that end them. */
    readonly unbind: readonly string[];
  }[];
  /** Those that others may use. */
  readonly staying: readonly { readonly source: string; readonly because: string }[];
}

/** The way of the letters of an old dead queue back into their work queue, and the end of the dead queue. */
export interface LettersOut {
  readonly dead: string;
  /** True if it has letters of other consumers, too, or messages that programs published there. */
  readonly isShared: boolean;
  /** The requests that set and end a policy without a delivery limit. Null if the queue needs none, or if none helps. */
  readonly policy: { readonly set: string; readonly end: string } | null;
  /** The delivery limit of the queue that no policy takes away. Null if there is none. */
  readonly limit: number | null;
  /** The queues where letters wait before they come into it. It stays until these are empty. */
  readonly before: readonly StillUsed[];
  /** The words for the URLs of the broker in a command for its letters. */
  readonly at: string;
  /** The requests that delete the dead queue, and the queues before it. */
  readonly remove: readonly string[];
}

/** The resources that an import can take over as they are, and the others. */
export interface Imports {
  readonly entries: readonly ImportEntry[];
  /** The resources that are there, but not as declared, or whose id the input does not show. Each with the reason. */
  readonly left: readonly Unsaid[];
  /** The resources that the deployment overwrites: also policies that differ, and those that hold one attribute of another one. */
  readonly present: readonly { readonly type: string; readonly id: string }[];
  /** The number of all declared resources. */
  readonly declared: number;
  readonly stays: readonly Stay[];
  /** The consumers that need a new queue. The import leaves out their resources: they keep their owner until then. */
  readonly moves: readonly Move[];
}
