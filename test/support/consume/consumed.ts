// The public entry. A benchmark loads it as well, and runs without the tests' names for it.
import type { ConsumeEvent, ConsumeOptions, Handler, Running } from "../../../src/consume/index.ts";
import { consume } from "../../../src/consume/index.ts";
import type { DeployedSystem } from "../deployed-system.ts";
import { checked } from "../examples.ts";

/** One run of a handler, as it saw it. */
export interface Run {
  readonly id: string;
  readonly attempt: number;
  readonly atMs: number;
  readonly routingKey: string | null;
}

export interface ConsumedSystem extends AsyncDisposable {
  readonly running: Running;
  readonly runs: Run[];
  readonly runsOf: (id: string) => readonly Run[];
  readonly events: ConsumeEvent[];
  /** The kinds of the events, in order. */
  readonly kinds: () => readonly ConsumeEvent["kind"][];
  readonly count: (kind: ConsumeEvent["kind"]) => number;
}

/** A deployed system, perhaps with other values in place of its own, and the consumer's options. */
export interface Place extends Pick<DeployedSystem, "url" | "broker" | "declaration" | "strategy"> {
  readonly consumer?: string;
  readonly options?: Partial<ConsumeOptions<"rabbitmq">>;
}

export type Handle = (run: Run, ...rest: Parameters<Handler>) => Promise<void> | void;

/** Runs a consumer of a deployed system through the public entry, and records the messages that its handler sees. */
export async function consumeFrom(
  { url, broker, declaration, strategy, consumer = "billing", options }: Place,
  handler: Handle,
): Promise<ConsumedSystem> {
  const runs: Run[] = [];
  const events: ConsumeEvent[] = [];
  const running = await consume(
    checked(declaration),
    consumer,
    {
      target: { broker: "rabbitmq", version: broker.version, strategy },
      connection: { url, managementUrl: broker.managementUrl },
      log: (event) => events.push(event),
      ...options,
    },
    (message, attempt) => {
      const run = { id: String(message.id), attempt: attempt.number, atMs: Date.now(), routingKey: message.routingKey };
      runs.push(run);
      return handler(run, message, attempt);
    },
  );
  const runsOf = (id: string): readonly Run[] => runs.filter((run) => run.id === id);
  const kinds = (): readonly ConsumeEvent["kind"][] => events.map(({ kind }) => kind);
  const count = (wanted: string): number => kinds().filter((kind) => kind === wanted).length;
  return { running, runs, runsOf, events, kinds, count, [Symbol.asyncDispose]: async () => running.stop() };
}
