import type { AnyContract } from "../contract/contract.ts";
import type { TlsOptions } from "../tls/tls-options.ts";
import type { Letter } from "./letter.ts";

/** The end of a look. */
export interface Looked {
  /** The letters in the queue when the look began. */
  readonly ready: number;
  /** The letters that were shown. */
  readonly seen: number;
  /** The consumers that the queue had when the look began. */
  readonly consumers: number;
  /** False if letters that should have come did not: others took them, or the queue was deleted. */
  readonly isWhole: boolean;
  /** The letters that the broker counts, and shows only when those before them are gone. Left out if there are none. */
  readonly behind?: number;
}

/** Called with each letter in order. Returns false to end the look. */
export type Visit = (letter: Letter) => boolean;

/** The way of a letter out of its queue. */
export interface Sending {
  /** The queue that it goes to, and no other. Null to remove the letter without a copy. */
  readonly queue: string | null;
  /** The header with its moves. It differs from that of every other letter of the pass. Null to leave it as it is. */
  readonly history: string | null;
  /** True if the copy keeps the records of its deaths, because it stays a dead letter. */
  readonly staysDead?: boolean;
  /** The letter with the changes of a person. */
  readonly edited?: Letter;
  /** Brings the letter to the disk. It is done before the letter is sent or removed. */
  readonly save?: () => Promise<void>;
}

/** Puts letters from elsewhere into a queue. */
export interface Putting {
  /** The letters that may have an unknown outcome at a time. */
  readonly window: number;
  /** @returns null when the broker has taken it, or the reason why it does not */
  readonly put: (letter: Letter) => Promise<string | null>;
  /** The letters that may be in the queue twice, because an outcome was unknown. */
  readonly mayBeDoubled: () => number;
  readonly close: () => Promise<void>;
}

/** One pass over a dead queue. */
export interface Pass {
  readonly most: number;
  /** Null for no limit. */
  readonly perSecond: number | null;
  /** Null if the letter stays. */
  readonly decide: (letter: Letter) => Sending | null;
  /** Asked before each letter. Not null if all other letters stay, with the reason. */
  readonly stopped?: () => string | null;
  /** Called when the broker has the copy. `isGone` is true if the letter has left the dead queue for certain. */
  readonly onSent?: (letter: Letter, isGone: boolean) => void;
}

export interface Passed {
  readonly sent: number;
  /** Letters that may have been sent twice, because a connection was lost. */
  readonly mayBeDoubled: number;
  /** Why the pass sent no more. Null if it sent all. */
  readonly stopped: string | null;
  /** True if the connection was lost. All letters that were not sent are in the queue. */
  readonly isLost: boolean;
}

/** A move of a whole queue by the broker itself, which goes on without Redeliver. The number is approximate. */
export interface WholeMove {
  readonly isRunning: boolean;
  readonly moved: number;
  /** Why it ended before the last letter. Null if it did not. */
  readonly problem: string | null;
}

export interface WholeMoves {
  /**
   * @param target the queue to move to. Null for the one that each letter came from
   * @returns null if the move has begun, or the reason why not
   */
  readonly start: (queue: string, target: string | null, perSecond: number | null) => Promise<string | null>;
  /** The last move that has begun. Null if there is none. */
  readonly latest: (queue: string) => Promise<WholeMove | null>;
  /** Letters that were moved stay there. False if no move runs. */
  readonly cancel: (queue: string) => Promise<boolean>;
}

/** The dead letters of one broker. Each member is safe to call again. */
export interface DeadLetters {
  /**
   * Shows the letters of a queue in order, and leaves them there in order. Meanwhile nobody else gets any of them.
   *
   * @throws RefusedError if looks would use the letters up, or if that cannot be learned
   * @throws the error of `visit`, after the letters are back
   */
  readonly look: (queue: string, visit: Visit) => Promise<Looked>;
  /** Sends letters of a queue to other queues or removes them, and leaves the others there in order. */
  readonly move: (queue: string, pass: Pass) => Promise<Passed>;
  /** Opens a queue for letters from elsewhere. */
  readonly putInto: (queue: string) => Promise<Putting>;
  /** The number of consumers of a queue. Null if there is no such queue. */
  readonly consumersOf: (queue: string) => Promise<number | "unknown" | null>;
  /** Counts the letters of a queue where a look may not show all of them. Null where it does. */
  readonly countOf?: (queue: string) => Promise<number | null>;
  /** The account that a queue belongs to, by the broker's word. Left out where the connection names all that there is. */
  readonly accountOf?: (queue: string) => Promise<string>;
  /** Left out if the broker moves no whole queue by itself. */
  readonly whole?: WholeMoves;
  /**
   * Keeps other redrives away from a queue until this connection ends. Left out where the broker has no such lock.
   *
   * @throws RefusedError if another redrive works on the queue
   */
  readonly lock?: (queue: string, holder: Holder) => Promise<void>;
  /** Waits until the letters are back that a killed redrive held. Left out where a look shows them all the same. */
  readonly settle?: (queue: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The person with the redrive on a queue, and the time of its begin. */
export interface Holder {
  readonly who: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A connection to a broker, as the command line gives it. The environment may have the rest. */
export interface OperatingConnection {
  readonly url: string | undefined;
  readonly managementUrl: string | undefined;
  /** The place that the target names, such as a region. Null if it names none. */
  readonly place: string | null;
  readonly tls?: TlsOptions | undefined;
}

/** Why a broker's redrive cannot send a letter. */
export type Unsendable = "not whole" | "by AMQP 1.0" | "ten attributes of its own" | "deferred";

/** The way to a broker's dead letters. */
export interface Operating {
  /** A sentence about the part of a connection that is none. Null if it can be tried. */
  readonly problemOf: (connection: OperatingConnection) => string | null;
  /** @throws RefusedError */
  readonly connect: (connection: OperatingConnection) => Promise<DeadLetters>;
  /** The letter as the client library gives it, for `describeDeadLetter`. */
  readonly messageOf: (letter: Letter) => unknown;
  /** Why no letter of a consumer can be sent to it again, as half a sentence. Null if they can. */
  readonly unreachable: (contract: AnyContract) => string | null;
  /** Null if it can be sent. */
  readonly unsendable: (letter: Letter) => Unsendable | null;
  /**
   * The queue that a letter died in, by the broker's own record that no publisher writes. Null without one.
   *
   * @param exchanges those of the system that lead letters on by the names of their work queues
   */
  readonly diedIn: (letter: Letter, exchanges: readonly string[]) => string | null;
  /** The same each time that a letter is shown, and different for any other one, but for letters alike in everything. */
  readonly identityOf: (letter: Letter) => string;
  /** The time when a letter came into its queue, by the broker's clock. Left out where a look shows all letters. */
  readonly arrivedAtMs?: (letter: Letter) => number;
  /** Names the broker and its namespace, without a user. */
  readonly addressOf: (connection: OperatingConnection) => string;
  /** The most letters that a killed redrive doubles. */
  readonly windowLetters: number;
  /** Why nobody can send letters into a queue, as half a sentence. Null if one can. */
  readonly closedFor: (queue: string) => string | null;
  /** Sentences about a look: its completeness, and its effect. */
  readonly aboutLook: string;
}
