import { consume } from "../../../src/consume/consume.ts";
import type { ConsumeEvent } from "../../../src/consume/port/event.ts";
import type { Attempt, Handler, Message } from "../../../src/consume/message.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import type { Running } from "../../../src/consume/run-consumer.ts";
import { checked } from "../examples.ts";
import { deploy, type DeployedSystem } from "./deployed-system.ts";
import type { ServicebusTargetInput } from "./register.ts";

/** One run of the handler. Times are those of `Date`, as the emulator's are. */
interface Run {
  readonly body: string;
  readonly id: string | null;
  readonly attempt: number;
  readonly beganAtMs: number;
  endedAtMs: number;
}

/** A consumer that runs by `consume`, with the records of its handler and its log. */
export interface Consuming extends Running {
  readonly runs: readonly Run[];
  readonly events: readonly ConsumeEvent[];
  readonly runsOf: (body: string) => readonly Run[];
  /** The attempts of one message, in order. */
  readonly attemptsOf: (body: string) => readonly number[];
}

export type Handle = (message: Message<string>, attempt: Attempt) => Promise<void> | void;

/** A system with one consumer, `billing`, on an emulator of its own. */
export interface ConsumedSystem extends DeployedSystem {
  readonly consuming: (handle: Handle, options?: Partial<ConsumeOptions<"servicebus", string>>) => Promise<Consuming>;
  /** The options of `consume` that connect to it. */
  readonly options: Pick<ConsumeOptions<"servicebus", string>, "target" | "connection" | "body">;
  readonly declared: ReturnType<typeof checked>;
}

/** A message whose id is its body. */
export const messageOf = (body: string) => ({ body: Buffer.from(body), messageId: body });

/** @param finished the `onTestFinished` of the test's own context */
export async function deployConsumed(
  finished: (end: () => Promise<void>) => void,
  billing: object,
  target: Partial<ServicebusTargetInput> = {},
  names: object = {},
): Promise<ConsumedSystem> {
  const consumers = { billing: { from: { orders: "all" }, ...billing } };
  const chosen = { broker: "servicebus", sku: "standard", lock: "10s", ...target } as const;
  const system = await deploy(finished, consumers, chosen, names);
  const declared = checked({ name: "shop", names, sources: { orders: { kind: "topic" } }, consumers });
  const { connectionString, managementConnectionString } = system.lab.emulator;
  const options = {
    target: chosen,
    connection: { connectionString, managementConnectionString },
    body: "text",
  } as const;
  return {
    ...system,
    declared,
    options,
    consuming: async (handle, more = {}) => {
      const runs: Run[] = [];
      const events: ConsumeEvent[] = [];
      const handler: Handler<string> = async (message, attempt) => {
        const { body, id } = message;
        const run: Run = { body, id, attempt: attempt.number, beganAtMs: Date.now(), endedAtMs: 0 };
        runs.push(run);
        try {
          await handle(message, attempt);
        } finally {
          run.endedAtMs = Date.now();
        }
      };
      const log = (event: ConsumeEvent): void => void events.push(event);
      const running = await consume<"servicebus", string>(declared, "billing", { ...options, log, ...more }, handler);
      finished(async () => running.stop("0ms"));
      const runsOf = (body: string): readonly Run[] => runs.filter((run) => run.body === body);
      return { ...running, runs, events, runsOf, attemptsOf: (body) => runsOf(body).map(({ attempt }) => attempt) };
    },
  };
}
