import type { CompiledSystem } from "../../brokers/index.ts";
import type { DeadLetterField, ReasonCode } from "./fields.ts";

/** The contract of a consumer on any broker. */
export type AnyContract = CompiledSystem["contracts"][number];

/** How a broker itself ended a message's stay in its work queue. */
export interface Death {
  readonly queue?: string;
  /** What certainly was the reason. */
  readonly reason?: ReasonCode;
  /** Attempts made. */
  readonly attempts?: number;
  readonly at?: Date;
}

/** A message of a dead queue, as far as it tells of its end, whatever client library received it. */
export interface Letter {
  /** What a consumer wrote on it. */
  readonly written: (field: DeadLetterField) => string | undefined;
  readonly messageId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Null where the broker recorded none. */
  readonly death: Death | null;
  /** Whether the broker ended it after a consumer wrote on it, so that what is written tells of an earlier life. */
  readonly isRewritten: boolean;
}

/** @returns null for what is no message of this kind */
export type LetterReader = (message: unknown, contract: AnyContract | undefined) => Letter | null;
