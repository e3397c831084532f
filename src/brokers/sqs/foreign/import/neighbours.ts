import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type AuditedSubscription, type LambdaMapping, type Told, isQueueArn } from "../deployment.ts";
import { MalformedValue, numberOf, objectOf } from "./attributes.ts";

/**
 * Reads an answer of `GetSubscriptionAttributes`. Null if the subscription leads to something other than a queue.
 * Source: SNS API Reference, `GetSubscriptionAttributes`.
 *
 * @throws MalformedValue
 */
export function subscriptionOf(attributes: Entry): AuditedSubscription | null {
  const { Protocol: protocol, Endpoint: queueArn, TopicArn: topicArn } = attributes;
  if (protocol !== "sqs") return null;
  if (typeof topicArn !== "string") throw new MalformedValue("a subscription has no TopicArn");
  if (!isQueueArn(queueArn)) throw new MalformedValue("the Endpoint of a subscription is not the ARN of a queue");
  return {
    topicArn,
    queueArn,
    deadLetterArn: deadLetterArnOf(attributes["RedrivePolicy"]),
    filterPolicy: objectOf(attributes["FilterPolicy"], "FilterPolicy"),
    attributes,
  };
}

function deadLetterArnOf(value: unknown): Told<string | null> {
  const policy = objectOf(value, "RedrivePolicy");
  if (policy === null || policy === "untold") return policy;
  const { deadLetterTargetArn } = policy;
  if (isQueueArn(deadLetterTargetArn)) return deadLetterTargetArn;
  throw new MalformedValue("the deadLetterTargetArn of a subscription's RedrivePolicy is not the ARN of a queue");
}

/** A Lambda function, with the settings that an audit needs. */
export type AuditedFunction = ReturnType<typeof functionOf>;

/** Reads an answer of `GetFunctionConfiguration`. Source: Lambda API Reference. */
export function functionOf(configuration: Entry) {
  const { FunctionArn: arn, DeadLetterConfig: letters } = configuration;
  if (typeof arn !== "string") throw new MalformedValue("a function has no FunctionArn");
  const target = isEntry(letters) ? letters["TargetArn"] : null;
  return {
    arn,
    timeoutSeconds: numberOf(configuration, "Timeout"),
    /** The queue where Lambda itself puts failed asynchronous calls. Null for none. */
    deadLetterArn: isQueueArn(target) ? target : null,
  };
}

/**
 * Reads one mapping of `ListEventSourceMappings`. Null if its source is no queue, or if it is switched off. Source:
 * Lambda API Reference, `EventSourceMappingConfiguration`.
 *
 * @throws MalformedValue
 */
export function mappingOf(configuration: Entry, functions: readonly AuditedFunction[]): LambdaMapping | null {
  const { EventSourceArn: queueArn, FunctionArn: functionArn, State: state } = configuration;
  if (!isQueueArn(queueArn) || state === "Disabled" || state === "Disabling" || state === "Deleting") return null;
  if (typeof functionArn !== "string") throw new MalformedValue("an event source mapping has no FunctionArn");
  const types = configuration["FunctionResponseTypes"] ?? [];
  const criteria = configuration["FilterCriteria"] ?? {};
  return {
    queueArn,
    functionName: functionArn.split(":")[6] ?? functionArn,
    timeoutSeconds: timeoutOf(functionArn, functions),
    batchSize: numberOf(configuration, "BatchSize"),
    batchWindowSeconds: numberOf(configuration, "MaximumBatchingWindowInSeconds"),
    reportsItemFailures: Array.isArray(types) ? types.includes("ReportBatchItemFailures") : "untold",
    hasFilters: isEntry(criteria) ? Array.isArray(criteria["Filters"]) && criteria["Filters"].length > 0 : "untold",
    attributes: { ...configuration, FunctionName: functionArn, Enabled: true },
  };
}

/** A mapping may name a version or an alias behind the function's own ARN. That may have a timeout of its own. */
function timeoutOf(functionArn: string, functions: readonly AuditedFunction[]): number | null {
  const exact = functions.find(({ arn }) => arn === functionArn);
  const unqualified = functionArn.split(":").slice(0, 7).join(":");
  return (exact ?? functions.find(({ arn }) => arn === unqualified))?.timeoutSeconds ?? null;
}
