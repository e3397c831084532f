import { nameOfConsumer, queueNames, sourceName } from "../../../plan/names.ts";
import { servicebusLimits } from "./capabilities.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";

/**
 * The names of all resources. A consumer's own resources start with the name of its work queue, which is
 * `<system>.<consumer>` unless the declaration gives another.
 */
export function workQueueName(plan: Pick<Plan, "system" | "names">, consumer: ConsumerPlan): string {
  return queueNames(plan, consumer, ".").work;
}

/** The queue for parked letters. A consumer that receives from a subscription has one, too. */
export function parkedQueueName(plan: Pick<Plan, "system" | "names">, consumer: ConsumerPlan): string {
  return queueNames(plan, consumer, ".").parked;
}

export function topicName(plan: Pick<Plan, "system" | "sources" | "names">, source: string): string {
  return sourceName(plan, source, ".");
}

/** On the topic of another owner, two systems may have a consumer of one name. */
export function subscriptionName(
  { system, sources }: Pick<Plan, "system" | "sources">,
  source: string,
  consumer: ConsumerPlan,
): string {
  const name = nameOfConsumer(consumer);
  return sources[source]?.owner === "other" ? `${system}.${name}` : name;
}

/** The one queue for all dead letters of a system, if the target asks for it. */
export function sharedDeadQueueName(system: string): string {
  return `${system}.dead`;
}

/** The tier of one delay, such as `shop.billing.wait.30s`. */
export function tierName(workQueue: string, delay: string): string {
  return `${workQueue}.wait.${delay}`;
}

/** The name that clients use for the dead-letter queue of a queue or subscription. */
export function deadLetterQueue(entity: string): string {
  return `${entity}/$DeadLetterQueue`;
}

/** The rule for one routing key or pattern. Its name has words for the wildcards. */
export function ruleName(pattern: string): string {
  return pattern
    .split(".")
    .map((word) => (word === "*" ? "one-word" : word === "#" ? "any-words" : word))
    .join(".");
}

/** True if Azure takes this name for a rule. */
export function isRuleName(name: string): boolean {
  return name.length <= servicebusLimits.subscriptionNameLength && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
}

export const defaultRuleName = "$Default";
