import type { AnyContract } from "../../contract/contract.ts";
import type { DeadLetterField, ReasonCode } from "./dead-letter-fields.ts";

/** The way in which a broker itself ended a message's stay in its work queue. */
export interface Death {
  readonly queue?: string;
  /** The reason, only if it is certain. */
  readonly reason?: ReasonCode;
  readonly attempts?: number;
  readonly at?: Date;
}

/** A message of a dead queue with the facts about its end, from any client library. */
export interface Letter {
  /** The text that a consumer wrote into a field. */
  readonly written: (field: DeadLetterField) => string | undefined;
  readonly messageId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Null if the broker recorded none. */
  readonly death: Death | null;
  /** True if the broker ended it after a consumer wrote on it. The written fields then describe an earlier life. */
  readonly isRewritten: boolean;
}

/** @returns null for a value that is not a message of this kind */
export type LetterReader = (message: unknown, contract: AnyContract | undefined) => Letter | null;
