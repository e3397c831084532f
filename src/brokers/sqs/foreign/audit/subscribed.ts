import type { SqsFinding } from "./sentences.ts";
import {
  type AuditedQueue,
  type AuditedRegion,
  type AuditedSubscription,
  type Deployment,
  isFifo,
  known,
  nameIn,
} from "../deployment.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { serviceMaySend } from "./policy-access.ts";
import type { Surroundings } from "./surroundings.ts";

/** Finds faults on the way from topics into a queue. */
export function subscribedBadly(queue: AuditedQueue, surroundings: Surroundings): SqsFinding[] {
  return surroundings
    .subscriptionsOf(queue)
    .flatMap((subscription) => [
      ...withoutDeadLetterQueue(queue, subscription),
      ...missingDeadLetterQueue(queue, subscription, surroundings),
      ...notLetIn(queue, subscription, surroundings),
      ...withoutKey(queue, subscription, surroundings),
      ...ofAnotherType(queue, subscription),
      ...takesNothing(queue, subscription),
    ]);
}

function topicOf({ topicArn }: AuditedSubscription): { readonly topic: string } {
  return { topic: nameIn(topicArn) };
}

function withoutDeadLetterQueue({ name }: AuditedQueue, subscription: AuditedSubscription): SqsFinding[] {
  if (subscription.deadLetterArn !== null) return [];
  return [{ code: "RD456", subject: name, facts: topicOf(subscription) }];
}

function missingDeadLetterQueue(
  { name }: AuditedQueue,
  subscription: AuditedSubscription,
  { isMissing }: Surroundings,
): SqsFinding[] {
  const deadLetterArn = known(subscription.deadLetterArn);
  if (deadLetterArn === null || !isMissing(deadLetterArn)) return [];
  const facts = { ...topicOf(subscription), target: nameIn(deadLetterArn) };
  return [{ code: "RD411", subject: name, facts, evidence: { way: null } }];
}

/**
 * Finds a queue policy that refuses the topic. SNS needs a permission in the policy of the queue, and in that of the
 * subscription's dead-letter queue.
 */
function notLetIn(queue: AuditedQueue, subscription: AuditedSubscription, { queues }: Surroundings): SqsFinding[] {
  const { deadLetterArn, topicArn } = subscription;
  const dead = queues.get(known(deadLetterArn) ?? "");
  const isShut = ({ statements, arn }: AuditedQueue): boolean =>
    statements !== "untold" && serviceMaySend(statements, arn, topicArn) === "no";
  const finding = (dead: string | null): SqsFinding => ({
    code: "RD457",
    subject: queue.name,
    facts: { ...topicOf(subscription), deadLetterQueue: dead },
    evidence: { topicArn, target: dead ?? queue.name },
  });
  return [
    ...(isShut(queue) ? [finding(null)] : []),
    ...(dead !== undefined && isShut(dead) ? [finding(dead.name)] : []),
  ];
}

/** Finds a key that SNS cannot use. The policy of a key that AWS manages allows no service, and cannot change. */
function withoutKey(queue: AuditedQueue, subscription: AuditedSubscription, { queues }: Surroundings): SqsFinding[] {
  const dead = queues.get(known(subscription.deadLetterArn) ?? "");
  const isLocked = ({ keyId }: AuditedQueue): boolean =>
    keyId !== "untold" && keyId?.endsWith("alias/aws/sqs") === true;
  const locked = isLocked(queue) ? queue : dead !== undefined && isLocked(dead) ? dead : null;
  if (locked === null) return [];
  const facts = { ...topicOf(subscription), deadLetterQueue: locked === queue ? null : locked.name };
  return [{ code: "RD464", subject: queue.name, facts }];
}

function ofAnotherType({ name, arn }: AuditedQueue, subscription: AuditedSubscription): SqsFinding[] {
  const dead = known(subscription.deadLetterArn);
  const isTopicStandard = isFifo(arn) && !isFifo(subscription.topicArn);
  const isDeadOther = dead !== null && isFifo(dead) !== isFifo(arn);
  if (!isTopicStandard && !isDeadOther) return [];
  return [{ code: "RD459", subject: name, facts: { ...topicOf(subscription), isTopicStandard } }];
}

function takesNothing({ name }: AuditedQueue, subscription: AuditedSubscription): SqsFinding[] {
  const filterPolicy = known(subscription.filterPolicy);
  const attribute = filterPolicy && impossibleAttribute(filterPolicy);
  if (filterPolicy === null || attribute === null) return [];
  return [{ code: "RD458", subject: name, facts: topicOf(subscription), evidence: { attribute, filterPolicy } }];
}

/** Finds subscriptions of queues that do not exist. SNS keeps them. */
export function subscriptionsOfNobody(
  { subscriptions }: Deployment,
  { queues }: AuditedRegion,
  { isMissing }: Surroundings,
): SqsFinding[] {
  if (subscriptions === "untold" || queues.length === 0) return [];
  return subscriptions
    .filter(({ queueArn }) => isMissing(queueArn))
    .map((each) => ({ code: "RD461", subject: nameIn(each.queueArn), facts: topicOf(each) }));
}

/**
 * The first attribute of a filter policy that no message can match. Null if a message can match all. A message must
 * match one value of each attribute. The function does not look inside of `$or`. Source: SNS Developer Guide, "Amazon
 * SNS subscription filter policies", "Numeric value matching".
 */
function impossibleAttribute(policy: Entry): string | null {
  for (const [name, values] of Object.entries(policy)) {
    if (name === "$or") continue;
    // A filter on the body can ask for a key within a key.
    if (isEntry(values)) {
      const inner = impossibleAttribute(values);
      if (inner !== null) return `${name}.${inner}`;
    } else if (Array.isArray(values) && values.every(isNeverMet)) return name;
  }
  return null;
}

/** True for a range of numbers without any number in it. */
function isNeverMet(value: unknown): boolean {
  if (!isEntry(value) || !Array.isArray(value["numeric"])) return false;
  const range: readonly unknown[] = value["numeric"];
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let isOpen = false;
  for (let index = 0; index < range.length; index += 2) {
    const [operator, bound] = [range[index], range[index + 1]];
    if (typeof bound !== "number") return false;
    if (operator === "=" || operator === ">" || operator === ">=") low = Math.max(low, bound);
    if (operator === "=" || operator === "<" || operator === "<=") high = Math.min(high, bound);
    isOpen ||= operator === ">" || operator === "<";
  }
  return low > high || (low === high && isOpen);
}
