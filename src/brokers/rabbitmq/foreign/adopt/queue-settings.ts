import type { FoundConsumer } from "../../../../adopt/found.ts";
import { exactPattern } from "../../compile/names.ts";
import { patternTestOf } from "../../compile/policy-pattern.ts";
import { policyPriority } from "../../compile/resources.ts";
import type { Looking } from "./looking.ts";

/**
 * The settings of a queue that can stay, although it has none of Redeliver's arguments: its policy gets them. Undefined
 * for a queue with other arguments, which nobody can take away. Undefined also if a policy of others outranks
 * Redeliver's, or if one for more than this queue has its name, because Redeliver's would replace that one.
 *
 * @param declared the arguments that a declaration has properties for
 */
export function bareSettingsOf(
  { topology }: Looking,
  queue: string,
  declared: readonly string[],
): FoundConsumer["queueSettings"] {
  const found = topology.queues.find(({ name }) => name === queue);
  const isBare =
    found?.kind === "quorum" &&
    Object.keys(found.arguments).every((key) => key === "x-queue-type" || declared.includes(key));
  const isInTheWay = topology.policies.some(({ kind, name, pattern, priority, applyTo }) => {
    if (kind !== "user") return false;
    if (name === queue) return pattern !== exactPattern(queue) || applyTo === "exchanges";
    return priority >= policyPriority && patternTestOf(pattern)?.(queue) !== false;
  });
  if (!isBare || isInTheWay) return undefined;
  return { value: "policy", from: `${queue} has no arguments of Redeliver's, so a policy has its settings` };
}
