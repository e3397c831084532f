// The public entry. A benchmark loads it as well, and runs without the tests' names for it.
import type { ConsumeEvent, ConsumeOptions, Handler, Running } from "../../../src/consume/index.ts";
import { consume } from "../../../src/consume/index.ts";
import type { DeployedSystem } from "../deployed-system.ts";
import { checked } from "../examples.ts";
import type { Broker } from "../live.ts";

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
}

/** Runs a consumer of a deployed system through the public entry, and records the messages that its handler sees. */
export async function consumeFrom(
  system: Pick<DeployedSystem, "url">,
  input: {
    readonly broker: Broker;
    readonly declaration: unknown;
    readonly consumer: string;
    readonly strategy: ConsumeOptions<"rabbitmq">["target"]["strategy"];
    readonly options?: Partial<ConsumeOptions<"rabbitmq">>;
  },
  handler: (run: Run, ...rest: Parameters<Handler>) => Promise<void> | void,
): Promise<ConsumedSystem> {
  const { broker, declaration, consumer, strategy, options } = input;
  const runs: Run[] = [];
  const events: ConsumeEvent[] = [];
  const running = await consume(
    checked(declaration),
    consumer,
    {
      target: { broker: "rabbitmq", version: broker.version, strategy },
      connection: { url: system.url, managementUrl: broker.managementUrl },
      log: (event) => events.push(event),
      ...options,
    },
    (message, attempt) => {
      const run = {
        id: String(message.id),
        attempt: attempt.number,
        atMs: Date.now(),
        routingKey: message.routingKey,
      };
      runs.push(run);
      return handler(run, message, attempt);
    },
  );
  const runsOf = (id: string): readonly Run[] => runs.filter((run) => run.id === id);
  return { running, runs, runsOf, events, [Symbol.asyncDispose]: async () => running.stop() };
}
