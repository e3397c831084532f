import { consume } from "../../../src/consume/index.ts";
import type { System } from "../../../src/index.ts";

/** The input of a consumer's process with a wrong clock, as JSON in its first argument. */
export interface SkewedInput {
  readonly system: System;
  readonly version: string;
  readonly url: string;
  readonly concurrency: number;
  /** The error of its wall clock, and the error that it has after half a second of its first failure. */
  readonly offsetsMs: readonly [number, number];
}

// Reports each attempt, a line each: `ID ATTEMPT BEGAN`, by a clock that all processes of this machine share.
const input = JSON.parse(process.argv[2] ?? "") as SkewedInput;
const nowMs = Date.now;
const [firstMs, laterMs] = input.offsetsMs;
let offsetMs = firstMs;
Date.now = () => nowMs() + offsetMs;
await consume(
  input.system,
  "billing",
  {
    target: { broker: "rabbitmq", version: input.version, strategy: "deferred" },
    connection: { url: input.url },
    concurrency: input.concurrency,
    breaker: false,
  },
  (message, attempt) => {
    const beganMs = Number(process.hrtime.bigint()) / 1e6;
    process.stdout.write(`${message.id} ${attempt.number} ${beganMs}\n`);
    setTimeout(() => (offsetMs = laterMs), 500);
    throw new Error("always");
  },
);
process.stdout.write("ready\n");
