import { isDeepStrictEqual } from "node:util";

import type { FoundConsumer } from "../../../../adopt/found.ts";
import { exactPattern } from "../../compile/names.ts";
import { patternTestOf } from "../../compile/policy-pattern.ts";
import { policyPriority } from "../../compile/resources.ts";
import type { Looking } from "./looking.ts";

/**
 * The place of the settings of a queue that can stay: a policy if it has none of Redeliver's arguments. Undefined for a
 * queue with other arguments, which nobody can take away. Undefined also if a policy of others outranks Redeliver's, or
 * if one for more than this queue has its name, because Redeliver's would replace that one.
 *
 * @param declared the arguments that a declaration has properties for
 * @param compiled all arguments of a compiled queue in its place
 */
export function stayingSettingsOf(
  { topology }: Looking,
  queue: string,
  declared: readonly string[],
  compiled?: Readonly<Record<string, unknown>>,
): FoundConsumer["queueSettings"] {
  const found = topology.queues.find(({ name }) => name === queue);
  const isInTheWay = topology.policies.some(({ kind, name, pattern, priority, applyTo }) => {
    if (kind !== "user") return false;
    if (name === queue) return pattern !== exactPattern(queue) || applyTo === "exchanges";
    return priority >= policyPriority && patternTestOf(pattern)?.(queue) !== false;
  });
  if (found?.kind !== "quorum" || isInTheWay) return undefined;
  const given = { ...found.arguments, "x-queue-type": found.kind };
  if (isDeepStrictEqual(given, compiled)) return { value: "arguments", from: `${queue} has Redeliver's arguments` };
  if (!Object.keys(given).every((key) => key === "x-queue-type" || declared.includes(key))) return undefined;
  return { value: "policy", from: `${queue} has no arguments of Redeliver's, so a policy has its settings` };
}
