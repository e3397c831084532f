import type { Delivery } from "./port/adapter.ts";
import type { AnyContract } from "../contract/contract.ts";
import type { ConsumeEvent } from "./port/event.ts";
import type { Verdict } from "./run-attempt.ts";

/** Watches a consumer for a monitoring system. It changes nothing, and never throws. */
export interface Telemetry {
  /**
   * Runs an attempt in a context that the handler's calls inherit. It calls `run` once, which never rejects, and
   * returns its result.
   */
  readonly attempt: (contract: AnyContract, delivery: Delivery, run: () => Promise<Verdict>) => Promise<Verdict>;
  /**
   * The fields that a message carries when it comes again or is dead, if the contract lets the consumer write on it.
   * Names may be those of headers, and values are texts. Called after each failed attempt.
   */
  readonly carried?: (delivery: Delivery) => Readonly<Record<string, string>>;
  /** Hears the same events as the log. */
  readonly event: (contract: AnyContract, event: ConsumeEvent) => void;
}
