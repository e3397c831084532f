import { consume } from "../../../src/consume/consume.ts";
import type { ConsumeEvent } from "../../../src/consume/port/event.ts";
import type { Attempt, Handler, Message } from "../../../src/consume/message.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import type { Running } from "../../../src/consume/run-consumer.ts";
import { until } from "../deployed-system.ts";
import { region } from "./clients.ts";
import type { DeployedSystem } from "./deployed-system.ts";

/** One run of the handler. Times are of the same clock as the test's. */
interface Run {
  readonly body: string;
  readonly attempt: number;
  readonly beganAtMs: number;
  endedAtMs: number;
}

/** A consumer that runs by `consume`, with the records of its handler and its log. */
export interface Consuming extends Running, AsyncDisposable {
  readonly runs: readonly Run[];
  readonly events: readonly ConsumeEvent[];
  /** The attempts of one message, in order. */
  readonly attemptsOf: (body: string) => readonly number[];
}

export type Handle = (message: Message<string>, attempt: Attempt) => Promise<void> | void;

export interface ConsumingOptions extends Partial<ConsumeOptions<"sqs", string>> {
  /** Replaces the emulator's own. */
  readonly endpoint?: string;
}

/** Runs a consumer of a deployed system. Bodies are texts. */
export async function consuming(
  system: DeployedSystem,
  consumer: string,
  handle: Handle,
  { endpoint = system.lab.emulator.endpoint, ...options }: ConsumingOptions = {},
): Promise<Consuming> {
  const runs: Run[] = [];
  const events: ConsumeEvent[] = [];
  const handler: Handler<string> = async (message, attempt) => {
    const run: Run = { body: message.body, attempt: attempt.number, beganAtMs: performance.now(), endedAtMs: 0 };
    runs.push(run);
    try {
      await handle(message, attempt);
    } finally {
      run.endedAtMs = performance.now();
    }
  };
  const running = await consume<"sqs", string>(
    system.declared,
    consumer,
    {
      target: system.target,
      connection: { endpoint, region, credentials: { accessKeyId: "test", secretAccessKey: "test" } },
      body: "text",
      log: (event) => void events.push(event),
      ...options,
    },
    handler,
  );
  const attemptsOf = (body: string): readonly number[] =>
    runs.filter((run) => run.body === body).map(({ attempt }) => attempt);
  return { ...running, runs, events, attemptsOf, [Symbol.asyncDispose]: async () => running.stop() };
}

/**
 * Waits until this many messages are in a queue, visible or not. It allows for a busy machine and a few visibility
 * timeouts.
 */
export async function untilCount(system: DeployedSystem, queue: "work" | "dead", consumer: string, count: number) {
  await until(180_000, async () => (await system.lab.count(system[queue](consumer))) === count);
}
