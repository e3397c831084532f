import { consume } from "../../../src/consume/index.ts";
import type { Duration, System } from "../../../src/index.ts";

/** The input of a consumer's process, as JSON in its first argument. */
export interface ProcessInput {
  readonly system: System;
  readonly version: string;
  readonly strategy: "native" | "deferred" | "staged" | "waits";
  readonly url: string;
  readonly concurrency: number;
  /** The time that a handler takes; null for one that never ends and ignores its signal. */
  readonly handlingMs: number | null;
  readonly stopWithin?: Duration;
}

// Reports the handler's steps, a line each: `began ID ATTEMPT`, `ended ID`. On SIGTERM it stops.
const input = JSON.parse(process.argv[2] ?? "") as ProcessInput;
const running = await consume(
  input.system,
  "billing",
  {
    target: { broker: "rabbitmq", version: input.version, strategy: input.strategy },
    connection: { url: input.url },
    concurrency: input.concurrency,
    ...(input.stopWithin === undefined ? {} : { stopWithin: input.stopWithin }),
  },
  async (message, attempt) => {
    process.stdout.write(`began ${message.id} ${attempt.number}\n`);
    // Without a timer such a handler does not keep the process alive.
    await new Promise((resolve) => void (input.handlingMs !== null && setTimeout(resolve, input.handlingMs)));
    process.stdout.write(`ended ${message.id}\n`);
  },
);
process.once("SIGTERM", () => {
  process.stdout.write("stopping\n");
  void running.stop();
});
process.stdout.write("ready\n");
