import { isEntry } from "../../../foreign/entries.ts";
import { type Beside, type DifferentSetting, loss, otherwise } from "../../drift.ts";
import type { SnsSubscription, SqsQueue } from "../compile/topology.ts";
import { anyoneMaySend, isAboutTransport, othersLetIn, serviceMaySend } from "./audit/policy-access.ts";
import { type AuditedQueue, type AuditedSubscription, type LambdaMapping, known } from "./deployment.ts";

// The effects that no model shows, because no step of a message looks at them.

/**
 * @param topicArns the declared topics that may send to the queue
 * @param subscribedArns the topics whose subscriptions are compared by themselves
 */
export function besideQueue(
  declared: SqsQueue,
  queue: AuditedQueue,
  settings: readonly DifferentSetting[],
  topicArns: readonly string[],
  subscribedArns: readonly string[],
): Beside {
  const { statements, arn, retentionSeconds } = queue;
  const differs = new Set(settings.map(({ key }) => key));
  if (differs.has("MessageRetentionPeriod") && declared.role !== "work" && retentionSeconds !== null) {
    if (retentionSeconds < declared.retentionSeconds)
      return loss(`SQS deletes a message after ${retentionSeconds} s, and ${declared.retentionSeconds} s are declared`);
  }
  if (differs.has("ContentBasedDeduplication") || differs.has("DeduplicationScope"))
    return loss("SQS drops messages as duplicates that the declared queue keeps");
  const told = known(statements) ?? [];
  if (differs.has("Policy") && anyoneMaySend(told, arn)) return otherwise("anyone may send to it");
  const shutOut = (declared.sendersServices ?? []).filter((each) => serviceMaySend(told, arn, each) === "no");
  if (differs.has("Policy") && shutOut.length > 0)
    return loss(`its policy lets ${shutOut.join(", ")} send no more, and the service gives up on those messages`);
  const isUnknown = topicArns.some((topic) => serviceMaySend(told, arn, topic) === "unknown");
  const denials = told.filter((each) => each["Effect"] === "Deny" && !isAboutTransport(each));
  if (differs.has("Policy") && (isUnknown || denials.length > 0))
    return otherwise("its policy has a statement that may refuse topics, senders or consumers");
  const others = othersLetIn(queue, [...topicArns, ...subscribedArns, ...(declared.sendersServices ?? [])]);
  if (differs.has("Policy") && others.length > 0)
    return otherwise(`only its policy there lets in ${others.join(", ")}`);
  if (differs.has("DelaySeconds") && declared.role === "work")
    return otherwise("each new message becomes visible after another delay");
  if (differs.has("KmsMasterKeyId")) return otherwise("senders and consumers need the right to use another key");
  return null;
}

export function besideSubscription(
  { stated }: SnsSubscription,
  { filterPolicy }: AuditedSubscription,
  settings: readonly DifferentSetting[],
): Beside {
  const differs = new Set(settings.map(({ key }) => key));
  if (stated !== undefined && (differs.has("FilterPolicy") || differs.has("FilterPolicyScope")))
    return known(filterPolicy) === null
      ? otherwise("it also delivers messages that the declared filter leaves out")
      : loss("the model follows neither filter, so this one may drop messages that the declared one takes");
  if (differs.has("FilterPolicyScope"))
    return loss("SNS looks for the routing key in the body of a message, and drops a message without it there");
  if (differs.has("FilterPolicy") && Object.values(known(filterPolicy) ?? {}).some(hasOtherOperator))
    return loss("its filter has an operator that the model does not follow, so it may drop declared messages");
  return differs.has("RawMessageDelivery") ? otherwise("the handler gets a message in an envelope of SNS") : null;
}

/** The model asks about enough routing keys for whole values, beginnings and ends. */
function hasOtherOperator(values: unknown): boolean {
  const isFollowed = (value: unknown): boolean => {
    if (typeof value === "string") return true;
    const operators = isEntry(value) ? Object.keys(value) : [];
    return operators.length === 1 && ["prefix", "suffix"].includes(operators[0] ?? "");
  };
  return !Array.isArray(values) || !values.every(isFollowed);
}

/** Source: Lambda Developer Guide, "Handling errors for an SQS event source", "Event filtering with Amazon SQS". */
export function besideMapping({ hasFilters, reportsItemFailures }: LambdaMapping): Beside {
  if (hasFilters === true) return loss("Lambda deletes messages that its filter does not take");
  return reportsItemFailures === false
    ? loss("Lambda deletes the whole batch although the function returns the messages that failed")
    : otherwise("the function gets its messages in other batches");
}
