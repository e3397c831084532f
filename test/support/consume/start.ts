import { consume, type ConsumeEvent, type ConsumeOptions } from "redeliver/consume";

import { type Diagnostic, RefusedError } from "../../../src/index.ts";
import type { DeployedSystem } from "../deployed-system.ts";
import { checked } from "../examples.ts";
import type { Broker } from "../live.ts";

/** The end of a start. */
export interface Start {
  /** Empty if it began. */
  readonly diagnostics: readonly Diagnostic[];
  readonly codes: readonly string[];
  /** As a person reads it. */
  readonly text: string;
  readonly events: readonly ConsumeEvent[];
}

/** Starts a consumer with an empty queue, and stops it again if it begins. */
export async function start(
  system: Pick<DeployedSystem, "url">,
  input: {
    readonly broker: Broker;
    readonly declaration: unknown;
    readonly consumer: string;
    readonly strategy: ConsumeOptions<"rabbitmq">["target"]["strategy"];
    readonly options?: Partial<ConsumeOptions<"rabbitmq">>;
  },
): Promise<Start> {
  const { broker, declaration, consumer, strategy, options } = input;
  const events: ConsumeEvent[] = [];
  try {
    const running = await consume(
      checked(declaration),
      consumer,
      {
        target: { broker: "rabbitmq", version: broker.version, strategy },
        connection: { url: system.url, managementUrl: broker.managementUrl },
        log: (event) => events.push(event),
        ...options,
      },
      () => {
        throw new Error("nothing is to be taken");
      },
    );
    await running.stop();
    return { diagnostics: [], codes: [], text: "", events };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return {
      diagnostics: error.diagnostics,
      codes: error.diagnostics.map(({ code }) => code),
      text: error.message,
      events,
    };
  }
}
