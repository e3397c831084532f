import { consume } from "../../../src/consume/index.ts";
import type { System } from "../../../src/index.ts";

/** What a test starts a consumer's process with, as JSON in its first argument. */
export interface ProcessInput {
  readonly system: System;
  readonly version: string;
  readonly strategy: "native" | "deferred" | "staged" | "waits";
  readonly url: string;
  readonly concurrency: number;
  /** How long a handler takes. */
  readonly handlingMs: number;
}

// Says what its handler does, a line each: `began ID ATTEMPT`, `ended ID`. On SIGTERM it stops.
const input = JSON.parse(process.argv[2] ?? "") as ProcessInput;
const running = await consume(
  input.system,
  "billing",
  {
    target: { broker: "rabbitmq", version: input.version, strategy: input.strategy },
    connection: { url: input.url },
    concurrency: input.concurrency,
  },
  async (message, attempt) => {
    process.stdout.write(`began ${message.id} ${attempt.number}\n`);
    await new Promise((resolve) => setTimeout(resolve, input.handlingMs));
    process.stdout.write(`ended ${message.id}\n`);
  },
);
process.once("SIGTERM", () => {
  process.stdout.write("stopping\n");
  void running.stop();
});
process.stdout.write("ready\n");
