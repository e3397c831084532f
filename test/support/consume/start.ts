import type { ConsumeEvent } from "redeliver/consume";

import { type Diagnostic, RefusedError } from "../../../src/index.ts";
import { consumeFrom, type Place } from "./consumed.ts";

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
export async function start(place: Place, options: Place["options"] = {}): Promise<Start> {
  const events: ConsumeEvent[] = [];
  const log = (event: ConsumeEvent): void => void events.push(event);
  try {
    const { running } = await consumeFrom({ ...place, options: { log, ...options } }, () => {
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
