import { queueNames, sourceName } from "../../../plan/names.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import { sqsLimits } from "./capabilities.ts";

/**
 * The names of all resources of a consumer. They start with the name of its work queue, which is `<system>-<consumer>`
 * unless the declaration gives another.
 */
export type ConsumerNames = ReturnType<typeof consumerNames>;

export function consumerNames(plan: Pick<Plan, "system" | "names">, consumer: ConsumerPlan) {
  const { work, dead, parked } = queueNames(plan, consumer, "-");
  const suffix = consumer.order === "per-key" ? sqsLimits.fifoSuffix : "";
  return Object.freeze({
    workQueue: `${work}${suffix}`,
    dead: `${dead}${suffix}`,
    parked: `${parked}${suffix}`,
    /** The queue for messages that a topic cannot deliver to the work queue. */
    undelivered: `${work}-undelivered${suffix}`,
  });
}

export function topicName(plan: Pick<Plan, "system" | "sources" | "names">, source: string, fifo: boolean): string {
  const { owner, name = "" } = plan.sources[source] ?? {};
  if (owner === "other") return name;
  return `${sourceName(plan, source, "-")}${fifo ? sqsLimits.fifoSuffix : ""}`;
}

/** The alarm on the depth of a queue, or on its receives. */
export function alarmName(queue: string, watched: "depth" | "received"): string {
  return `${queue}-${watched}`;
}
