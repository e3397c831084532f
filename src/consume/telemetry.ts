import type { Delivery } from "./adapter.ts";
import type { AnyContract } from "./contract.ts";
import type { ConsumeEvent } from "./event.ts";
import type { Verdict } from "./run-attempt.ts";

/** Watches a consumer for a monitoring system. It changes nothing, and never throws. */
export interface Telemetry {
  /** Runs an attempt, in a context that calls of the handler belong to. It calls `run` once, which never rejects, and returns what that returns. */
  readonly attempt: (contract: AnyContract, delivery: Delivery, run: () => Promise<Verdict>) => Promise<Verdict>;
  /** Hears what the log hears. */
  readonly event: (contract: AnyContract, event: ConsumeEvent) => void;
}
