import type { Checked } from "../diagnostics/diagnostic.ts";
import type { Subject } from "../explore/model.ts";

/** A setting with two values. A value is left out if it is not set. */
export interface DifferentSetting {
  readonly key: string;
  readonly declared?: unknown;
  readonly deployed?: unknown;
}

/** An effect that no consumer's model shows, with half a sentence. Null for none. */
export type Beside = { readonly effect: "otherwise" | "loss"; readonly reason: string } | null;

export const loss = (reason: string): Beside => ({ effect: "loss", reason });
export const otherwise = (reason: string): Beside => ({ effect: "otherwise", reason });

/** One difference between a declared system and the resources on a broker. */
export interface DeployedDifference<State> {
  /** `missing`: declared alone. `extra`: deployed alone. */
  readonly change: "missing" | "extra" | "different";
  /** The broker's word for the kind of resource. */
  readonly kind: string;
  readonly name: string;
  readonly settings: readonly DifferentSetting[];
  readonly beside: Beside;
  /** The way to repair it, if a deployment cannot. */
  readonly repair?: string;
  /** The consumers of the system with this difference alone. Those that it does not concern may be left out. */
  readonly subjects: () => readonly Subject<State>[];
}

/** All differences between a declared system and the resources on a broker. */
export interface Drift<State> {
  readonly differences: readonly DeployedDifference<State>[];
  /** The consumers without any difference. */
  readonly declared: () => readonly Subject<State>[];
  /** The consumers with all differences, once for each form that the broker may choose. */
  readonly together: () => readonly (readonly Subject<State>[])[];
  /** The parts that could not be compared, each as half a sentence. */
  readonly unread: readonly string[];
  /** The way to see them. */
  readonly unreadHelp: string;
  /** Queues whose statistics disagree with the lists of the broker, each with its text in `unread`. */
  readonly late?: readonly { readonly queue: string; readonly text: string }[];
  /** Dead letters that no next queue has accepted yet. */
  readonly keptLetters: readonly { readonly queue: string; readonly letters: number }[];
}

/** A difference as a change of a declared topology. */
export interface AppliedDifference<Topology, State> extends Omit<DeployedDifference<State>, "subjects"> {
  /** A topology that has this difference, too. */
  readonly apply: (topology: Topology) => Topology;
}

/**
 * The drift of a broker that has one topology at a time, and tells of no kept letters.
 *
 * @param declared the declared system, with everything in its topology that a difference may lead into
 */
export function driftOn<Topology, Contract, State>(
  declared: { readonly topology: Topology; readonly contracts: readonly Contract[] },
  all: readonly AppliedDifference<Topology, State>[],
  of: {
    readonly subjectsOf: (system: typeof declared) => readonly Subject<State>[];
    readonly concernedBy: (system: typeof declared) => (changed: Topology) => readonly Contract[];
  },
  unread: Pick<Drift<State>, "unread" | "unreadHelp">,
): Drift<State> {
  const { topology: base } = declared;
  const concerned = of.concernedBy(declared);
  return {
    differences: all.map(({ apply, ...each }) => ({
      ...each,
      subjects: () => {
        const topology = apply(base);
        return of.subjectsOf({ topology, contracts: concerned(topology) });
      },
    })),
    declared: () => of.subjectsOf(declared),
    together: () => [
      of.subjectsOf({ ...declared, topology: all.reduce((changed, { apply }) => apply(changed), base) }),
    ],
    ...unread,
    keptLetters: [],
  };
}

/** Compares declared systems with deployments. */
export interface Differ<Target, Deployment, System, State, Live> {
  /** Reads a running broker with everything that a comparison needs. */
  readonly live: Live;
  readonly compare: (deployment: Deployment, compiled: System, target: Target) => Checked<Drift<State>>;
  /**
   * A compiled system as if it were deployed.
   *
   * @param over the system that was deployed before. A deployment leaves on the broker what messages may need
   */
  readonly deploymentOf: (compiled: System, over?: System) => Deployment;
}
