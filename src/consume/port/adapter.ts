import type { AnyContract, AnyOperation } from "../../contract/contract.ts";
import type { Checked } from "../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "./event.ts";

/** A compiled system of any broker. */
export interface AnySystem {
  readonly contracts: readonly AnyContract[];
}

/** A message in the consumer's hands, as an adapter reads it from its client library. */
export interface Delivery {
  readonly body: Uint8Array | string;
  /** The producer's own id, or else the broker's. Null if there is none. */
  readonly id: string | null;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The producer's key, even if retries have replaced it. Null if the broker has none. */
  readonly routingKey: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The headers, and the fields that earlier attempts wrote beside them. Telemetry reads its context from here. */
  readonly carrier: Readonly<Record<string, unknown>>;
  /** The time of its publication, if known. */
  readonly publishedAt: Date | null;
  /** The producer's own business key for the message. Null for none. */
  readonly correlationId: string | null;
  /** The client library's own message. */
  readonly raw: unknown;
}

/** Values that an operation needs and that are not in the contract. */
export interface SettleValues {
  /** The delay that the handler asked for, in place of `"asked"`. */
  readonly askedDelayMs: number | null;
  /** The fields of a dead letter about its end, beside those from the contract. */
  readonly deadLetter: Readonly<Record<string, string>> | null;
  /** Telemetry headers for copies, returns and dead letters, if the broker accepts them. */
  readonly carried: Readonly<Record<string, string>>;
}

/**
 * Thrown by `settle`: the delivery is no longer ours, and the broker gives the message to another consumer. Trying
 * again is useless.
 */
export class NotOursError extends Error {
  override readonly name = "NotOursError";

  constructor(cause: unknown) {
    super("this consumer no longer holds the message", { cause });
  }
}

/**
 * The deliveries of one queue, over one connection or several. A feed ends by `close` or by `lost`, and is not used
 * again.
 */
export interface Feed {
  /**
   * Takes up to this many deliveries at a time, and never more than the consumer's concurrency. A second call changes
   * the number.
   */
  readonly resume: (most: number) => Promise<void>;
  /** Takes no more deliveries once the promise resolves. Earlier deliveries stay in the consumer's hands. */
  readonly pause: () => Promise<void>;
  /**
   * Does operations in order, each after the success of the one before. If it rejects, the message is as unsettled as
   * before. If it returns no promise, all operations are done or on their way in the right order.
   */
  readonly settle: (
    delivery: Delivery,
    operations: readonly AnyOperation[],
    values: SettleValues,
  ) => Promise<void> | undefined;
  /**
   * Resolves when the broker cannot forget a settlement any more. Called once, after `pause` and all settlements. Without
   * it, a settlement is sure as soon as its promise resolves, or as soon as the connection ends in order.
   */
  readonly settled?: () => Promise<void>;
  /** Ends the connection. It does so in order if the time suffices, and by force if not. */
  readonly close: (withinMs: number) => Promise<void>;
}

/** The consumer, as its feed sees it. */
export interface FeedListener {
  readonly delivered: (delivery: Delivery) => void;
  /** The connection is gone, and the broker delivers every unsettled message again. Called once. */
  readonly lost: (cause: unknown) => void;
  /**
   * Reports after each check whether the broker answers. A feed that outlives its connections is never lost: its
   * deliveries can be settled when the broker is back.
   */
  readonly answers: (isAnswering: boolean) => void;
  /** The broker accepts no copies for now, with its reason. Null when it accepts them again. */
  readonly blocked: (reason: string | null) => void;
  /**
   * The number of messages that the broker keeps because it cannot dead-letter them. Null if the broker does not report
   * it.
   */
  readonly keptDeadLetters: (count: number | null) => void;
  /** The number of handlers that could begin now. A feed asks for no more messages than this. */
  readonly free: () => number;
  /** Resolves when at least one handler could begin. */
  readonly whenFree: () => Promise<void>;
  readonly report: (event: ConsumeEvent) => void;
}

/** The input to a new feed. */
export interface Opening<System extends AnySystem = AnySystem, Connection = unknown> {
  readonly compiled: System;
  readonly contract: System["contracts"][number];
  readonly connection: Connection;
  readonly concurrency: number;
  readonly listener: FeedListener;
  /** The time that the broker has to accept the consumer of an open connection. */
  readonly acceptsWithinMs: number;
  /**
   * Aborted if the consumer stops before the feed is open. An adapter that can then ends the opening, which rejects and
   * leaves nothing behind.
   */
  readonly givenUp: AbortSignal;
}

/** The input to the comparison of deployed and compiled resources. */
export interface Comparison<
  System extends AnySystem = AnySystem,
  TargetInput = never,
  Connection = unknown,
> extends Pick<Opening<System, Connection>, "compiled" | "contract" | "connection"> {
  /** Compiles the same consumer for another target. The settings that it leaves out are those of the given target. */
  readonly compileFor: (target: TargetInput) => Checked<System>;
  readonly report: FeedListener["report"];
  /** Aborted if the consumer shall not start any more. An adapter that can then ends the comparison, which rejects. */
  readonly givenUp: AbortSignal;
}

/** Drives one client library. It translates single operations, and decides nothing. */
export interface Adapter<System extends AnySystem = AnySystem, TargetInput = never, Connection = unknown> {
  /**
   * Compares the deployed resources with the compiled ones, and changes nothing. Called once, before the first feed.
   *
   * @throws RefusedError if they differ, or if the broker refuses the user
   */
  readonly check: (comparison: Comparison<System, TargetInput, Connection>) => Promise<void>;
  /**
   * Connects. Deliveries come from the first `resume` on. If a feed opens although it was given up, its caller closes
   * it.
   */
  readonly open: (opening: Opening<System, Connection>) => Promise<Feed>;
  /**
   * Explains in our words why a consumer's first feed could not be opened. Without it the consumer throws the library's
   * error.
   */
  readonly refusal?: (connection: Connection, cause: unknown) => unknown;
  /** The fate of a delivery that arrives in a pause. The consumer holds it if waiting costs the message nothing. */
  readonly unstarted: "hold" | "return";
}
