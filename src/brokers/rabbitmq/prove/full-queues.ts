import { isDeepStrictEqual } from "node:util";

import { type Semantics, dropsHead, isBounded } from "./semantics.ts";

/**
 * Lets each step happen with room everywhere, and with every queue full that can refuse messages. Compiled queues have no
 * limit, so they never do.
 */
export function withFullQueues(semantics: Semantics): Semantics {
  const settings = semantics.topology.queues.flatMap(({ name }) => semantics.settings(name) ?? []);
  const fullQueues = new Set(settings.filter((each) => isBounded(each) && !dropsHead(each)).map(({ queue }) => queue));
  if (fullQueues.size === 0) return semantics;
  const either = <Ends extends readonly unknown[]>(withRoom: Ends, without: Ends): readonly Ends[number][] =>
    isDeepStrictEqual(withRoom, without) ? withRoom : [...withRoom, ...without];
  return {
    ...semantics,
    publish: (message) => either(semantics.publish(message), semantics.publish(message, { fullQueues })),
    step: (state, event) => either(semantics.step(state, event), semantics.step(state, event, { fullQueues })),
  };
}
