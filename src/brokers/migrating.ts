import type { Diagnostic } from "../diagnostics/diagnostic.ts";

/** A request to the management API of a running broker. It changes nothing if it was made before. */
export interface ChangeRequest {
  readonly method: "PUT" | "POST" | "DELETE";
  /** Below the broker's URL. */
  readonly path: string;
  readonly body?: object;
  /** The change, such as `create the queue shop.billing`. */
  readonly text: string;
  /** A queue that the broker has not started, and that this deletes. */
  readonly mends?: string;
  /** The reason of an answer with this HTTP status. The default, also for null, is a missing right. */
  readonly refusalOf?: (status: number) => Diagnostic | null;
}

/** Keeps other machines from carrying out a migration of the same system. */
export interface Claim {
  /** Takes or renews it. */
  readonly take: ChangeRequest;
  readonly release: ChangeRequest;
  /** True if the holder had it when the broker was read. */
  readonly isHeld: boolean;
}

/** The messages and consumers of a queue, as the broker counts them. Or a source, which has neither. */
export interface Watched {
  readonly kind: "queue" | "source";
  readonly name: string;
  /** By the broker's word for a state, the messages in it. Empty until the broker has counted. */
  readonly messages: Readonly<Record<string, number>>;
  /** Changes with each delivery from a queue, and with each message to a source. */
  readonly moved: string;
  /** The connection of each consumer. Empty as well on a broker that lists none. */
  readonly connections: readonly string[];
  /** True if a consumer has a message of it. Left out on a broker that does not count them. */
  readonly isTaken?: boolean;
}

/** Watches the steps of a migration on a running broker, and perhaps carries them out. */
export interface Migrating<System, Deployment, Reader> {
  /** The system with everything that a deployment over an earlier one leaves on the broker. */
  readonly deployedAfter: (before: System, after: System) => System;
  /** True if nobody can change the settings of a queue that exists. */
  readonly keepsSettings: boolean;
  /**
   * The requests that lead from a broker to a system, in a safe order. Empty if it is deployed. Left out if only a
   * deployment can change it.
   *
   * @param late queues whose statistics disagree with the lists of the broker
   */
  readonly requestsFor?: (
    deployment: Deployment,
    before: System,
    after: System,
    late: readonly string[],
  ) => readonly ChangeRequest[];
  /** Left out with `requestsFor`. @param holder a number below 2^31 for the machine and its lock */
  readonly claimOf?: (deployment: Deployment, system: System, holder: number) => Claim | null;
  /** The change to a resource that a step gives up, as the start of half a sentence. The default is `delete`. */
  readonly givesUp?: string;
  /** Counts messages and consumers, and messages to sources if the broker does. */
  readonly reader: Reader;
  /** The time until the counts show a change. */
  readonly countsLagMs: number;
}
