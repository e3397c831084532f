import type { LosingType } from "../../broker.ts";
import { queueType } from "./resource-types.ts";

/** Source: `DeleteQueue` in the API reference of SQS ("regardless of the queue's contents"). */
export const losingTypes: Readonly<Record<string, LosingType>> = Object.freeze({
  [queueType]: { holds: true, loss: "SQS deletes every message in it", isTemporary: () => false },
});
