import type { BrokerName, CompiledSystem, TargetInput } from "../brokers/index.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import type { ConnectionOf } from "./adapters.ts";
import type { ConsumeEvent } from "./event.ts";

/** What is compiled for a consumer of one broker, or of any. */
export type ContractOf<Name extends BrokerName> = CompiledSystem<Name>["contracts"][number];
/** One operation of a contract, as any broker's has it. */
export interface AnyOperation {
  readonly operation: string;
}

/** A message in the consumer's hands, as an adapter reads it from its client library. */
export interface Delivery {
  readonly body: Uint8Array | string;
  /** The producer's own, or the broker's; null where there is none. */
  readonly id: string | null;
  /** Which attempt its handling is; 1 for the first. */
  readonly attempt: number;
  /** As the producer gave it, whatever the retries made of it; null where the broker has none. */
  readonly routingKey: string | null;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Where producers, and attempts before, have written for whoever watches: the headers, and what attempts put beside them. */
  readonly carrier: Readonly<Record<string, unknown>>;
  /** When it was published, where that is known. */
  readonly publishedAt: Date | null;
  /** What its producer calls the business's own key of it; null for none. */
  readonly correlationId: string | null;
  /** The client library's own message. */
  readonly raw: unknown;
}

/** What an operation needs beside what the contract says. */
export interface SettleValues {
  /** The delay that the handler asked for, in place of `"asked"`. */
  readonly askedDelayMs: number | null;
  /** What a dead letter says about its end, beside what the contract lets it say. */
  readonly deadLetter: Readonly<Record<string, string>> | null;
  /** What whoever watches wants on a copy, or on a message that is given back or dead-lettered, where the broker takes it. */
  readonly carried: Readonly<Record<string, string>>;
}

/**
 * Thrown by `settle`: the broker does not know the delivery as ours any more, and gives the message to whoever takes it next. To try again is of no
 * use.
 */
export class NotOursError extends Error {
  override readonly name = "NotOursError";

  constructor(cause: unknown) {
    super("the message is not ours any more", { cause });
  }
}

/** A connection that takes deliveries. It ends by `close`, or by `lost`, and is not used again. */
export interface Session {
  /** Begins, or begins again, to take deliveries. */
  readonly resume: () => Promise<void>;
  /** Takes no more deliveries once it is through. What was delivered stays in the consumer's hands. */
  readonly pause: () => Promise<void>;
  /**
   * Does operations in order, the next one only when the one before has succeeded. Where it rejects, the message is as unsettled as
   * before. Without a promise all is done, or on its way in the right order.
   */
  readonly settle: (
    delivery: Delivery,
    operations: readonly AnyOperation[],
    values: SettleValues,
  ) => Promise<void> | undefined;
  /** Ends the connection, in an orderly way if that is done within the time, and in any case. */
  readonly close: (withinMs: number) => Promise<void>;
}

/** What a session tells its consumer. */
export interface SessionListener {
  readonly delivered: (delivery: Delivery) => void;
  /** The connection is gone: the broker gives again whatever is unsettled. Told once. */
  readonly lost: (cause: unknown) => void;
  /**
   * Says whether the broker answers. For a session that outlives its connections, and so is never lost: its deliveries can be settled when the broker
   * is back.
   */
  readonly answers: (isAnswering: boolean) => void;
  /** How many more handlers could begin at once: who asks for messages asks for no more. */
  readonly free: () => number;
  /** Resolves when at least one handler could begin. */
  readonly whenFree: () => Promise<void>;
  readonly report: (event: ConsumeEvent) => void;
}

/** What a consumer opens a session with. */
export interface Opening<Name extends BrokerName = BrokerName> {
  readonly compiled: CompiledSystem<Name>;
  readonly contract: ContractOf<Name>;
  readonly connection: ConnectionOf<Name>;
  readonly concurrency: number;
  readonly listener: SessionListener;
  /** Given when the consumer stops before the session is open. Whoever can ends the opening then, which rejects and leaves nothing behind. */
  readonly givenUp: AbortSignal;
}

/** What a consumer compares what is deployed with. */
export interface Comparison<Name extends BrokerName = BrokerName> {
  readonly compiled: CompiledSystem<Name>;
  readonly contract: ContractOf<Name>;
  readonly connection: ConnectionOf<Name>;
  /** Compiles the same consumer for another target. */
  readonly compileFor: (target: TargetInput<Name>) => Checked<CompiledSystem<Name>>;
  readonly report: SessionListener["report"];
}

/** How one client library is used. It translates single operations, and decides nothing. */
export interface Adapter<Name extends BrokerName = BrokerName> {
  /**
   * Compares what is deployed with what was compiled, and changes nothing. Called once, before the first session.
   *
   * @throws RefusedError where it differs, or where the broker refuses the user
   */
  readonly check: (comparison: Comparison<Name>) => Promise<void>;
  /** Connects; deliveries come from the first `resume` on. A session that is opened although it was given up is closed by whoever gets it. */
  readonly open: (opening: Opening<Name>) => Promise<Session>;
  /** Why the first session of a consumer could not be opened, in our words; what is thrown where it is left out. */
  readonly refusal?: (connection: ConnectionOf<Name>, cause: unknown) => unknown;
  /** What becomes of a delivery that arrives in a pause: it is held where waiting costs it nothing. */
  readonly unstarted: "hold" | "return";
}
