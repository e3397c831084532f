import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import { parseArn } from "./arn.ts";

/** The services of AWS that send straight to a queue, by the service in the ARN of their resource. */
const senders: ReadonlySet<string> = new Set(["events", "s3"]);

/** True for a rule of EventBridge, and for a bucket of S3 with notifications. */
export function isServiceArn(name: string): boolean {
  return senders.has(parseArn(name)?.service ?? "");
}

export function isBucketArn(name: string): boolean {
  return parseArn(name)?.service === "s3";
}

/** The name of a resource's service in policies. Source: IAM User Guide, "AWS service principals". */
export function principalOf(arn: string): string {
  return `${parseArn(arn)?.service ?? ""}.amazonaws.com`;
}

/** A plan whose sources are all topics, and for each consumer the ARNs of the services that send to its queue. */
export interface SplitPlan {
  readonly plan: Plan;
  readonly servicesOf: (consumer: string) => readonly string[];
}

/**
 * Takes the services out of a plan. They send as any producer that knows the queue, so nothing but the policy of the
 * queue tells them apart from one.
 */
export function splitServices(plan: Plan): SplitPlan {
  const arnOf = (source: string): string => plan.sources[source]?.name ?? "";
  const isService = (source: string): boolean => plan.sources[source]?.owner === "other" && isServiceArn(arnOf(source));
  if (!Object.keys(plan.sources).some(isService)) return { plan, servicesOf: () => [] };
  const withoutServices = <Value>(table: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(table).filter(([source]) => !isService(source)));
  const services = new Map(
    plan.consumers.map(({ consumer, from }) => [consumer, Object.keys(from).filter(isService).map(arnOf)]),
  );
  return {
    plan: {
      ...plan,
      sources: withoutServices(plan.sources),
      consumers: plan.consumers.map((each): ConsumerPlan => ({ ...each, from: withoutServices(each.from) })),
    },
    servicesOf: (consumer) => services.get(consumer) ?? [],
  };
}
