import type { Delivery } from "./adapter.ts";
import type { AnyContract } from "./contract.ts";
import type { ConsumeEvent } from "./event.ts";
import type { Verdict } from "./run-attempt.ts";

/** Watches a consumer for a monitoring system. It changes nothing, and never throws. */
export interface Telemetry {
  /** Runs an attempt, in a context that calls of the handler belong to. It calls `run` once, which never rejects, and returns what that returns. */
  readonly attempt: (contract: AnyContract, delivery: Delivery, run: () => Promise<Verdict>) => Promise<Verdict>;
  /**
   * What is to be on the message when it comes again, or is dead, wherever the contract lets the consumer write on it: texts by names that may be those
   * of headers. Asked for when the attempt is over and has failed.
   */
  readonly carried?: (delivery: Delivery) => Readonly<Record<string, string>>;
  /** Hears what the log hears. */
  readonly event: (contract: AnyContract, event: ConsumeEvent) => void;
}
