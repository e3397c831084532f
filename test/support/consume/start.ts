import type { ConsumeEvent } from "redeliver/consume";

import { type Diagnostic, RefusedError } from "../../../src/index.ts";
import type { DeployedSystem } from "../deployed-system.ts";
import { consumeFrom } from "./consumed.ts";

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
  input: Parameters<typeof consumeFrom>[1],
): Promise<Start> {
  const events: ConsumeEvent[] = [];
  const options = { log: (event: ConsumeEvent) => events.push(event), ...input.options };
  try {
    const { running } = await consumeFrom(system, { ...input, options }, () => {
      throw new Error("nothing is to be taken");
    });
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
