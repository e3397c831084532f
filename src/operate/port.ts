import type { TlsOptions } from "../tls/tls-options.ts";
import type { Letter } from "./letter.ts";

/** The end of a look. */
export interface Looked {
  /** The letters in the queue when the look began. */
  readonly ready: number;
  /** The letters that were shown. */
  readonly seen: number;
  /** False if letters that should have come did not: others took them, or the queue was deleted. */
  readonly isWhole: boolean;
}

/** Called with each letter in order. Returns false to end the look. */
export type Visit = (letter: Letter) => boolean;

/** The dead letters of one broker. Each member is safe to call again. */
export interface DeadLetters {
  /**
   * Shows the letters of a queue in order, and leaves them there in order. Meanwhile nobody else gets any of them.
   *
   * @throws RefusedError if looks would use the letters up, or if that cannot be learned
   * @throws the error of `visit`, after the letters are back
   */
  readonly look: (queue: string, visit: Visit) => Promise<Looked>;
  readonly close: () => Promise<void>;
}

/** A connection to a broker, as the command line gives it. */
export interface OperatingConnection {
  readonly url: string;
  readonly managementUrl: string | undefined;
  readonly tls?: TlsOptions | undefined;
}

/** The way to a broker's dead letters. */
export interface Operating {
  /** A sentence about the part of a connection that is none. Null if it can be tried. */
  readonly problemOf: (connection: OperatingConnection) => string | null;
  /** @throws RefusedError */
  readonly connect: (connection: OperatingConnection) => Promise<DeadLetters>;
}
