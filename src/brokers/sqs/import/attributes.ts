import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import type { AuditedQueue, AuditedRedriveAllow, Told } from "../deployment.ts";
import { isFifo, isQueueArn, nameIn } from "../deployment.ts";

/** Stands for a value that is there and cannot be read: a secret, one that is not known yet, or one that was not asked for. */
export const unreadable: unique symbol = Symbol("unreadable");

/** The attributes of a queue by SQS's own names, as texts or as data. */
export type QueueAttributes = Readonly<Record<string, unknown>>;

/** Thrown by the readers of single values, with half a sentence about the value; whoever reads a whole entry catches it. */
export class MalformedValue extends Error {
  override readonly name = "MalformedValue";
}

/**
 * Reads what `GetQueueAttributes` answers, or the same put together from elsewhere.
 * Source: API Reference, `GetQueueAttributes`; every value is a text there.
 *
 * @throws MalformedValue
 */
export function queueOf(attributes: QueueAttributes): AuditedQueue {
  const arn = attributes["QueueArn"];
  if (!isQueueArn(arn)) throw new MalformedValue("a queue has no QueueArn that is the ARN of a queue");
  return {
    arn,
    name: nameIn(arn),
    fifo: isFifo(arn),
    visibilityTimeoutSeconds: numberOf(attributes, "VisibilityTimeout"),
    retentionSeconds: numberOf(attributes, "MessageRetentionPeriod"),
    delaySeconds: numberOf(attributes, "DelaySeconds"),
    redrive: redriveOf(attributes["RedrivePolicy"]),
    redriveAllow: redriveAllowOf(attributes["RedriveAllowPolicy"]),
    isEncrypted: encryptionOf(attributes),
    keyId: keyOf(attributes["KmsMasterKeyId"]),
    statements: statementsOf(attributes["Policy"]),
  };
}

/** A whole number that is not negative, as a number or as a text; null where it is not told. */
export function numberOf(entry: Entry, key: string): number | null {
  const value = entry[key];
  if (value === undefined || value === null || value === unreadable) return null;
  const number = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  throw new MalformedValue(`${key} is no whole number`);
}

function redriveOf(value: unknown): AuditedQueue["redrive"] {
  const policy = objectOf(value, "RedrivePolicy");
  if (policy === null || policy === "untold") return policy;
  const { deadLetterTargetArn: targetArn } = policy;
  // Both a number and a text are accepted and kept as they were sent.
  const maxReceiveCount = numberOf(policy, "maxReceiveCount");
  const isTold = policy["maxReceiveCount"] !== unreadable;
  if (!isQueueArn(targetArn))
    throw new MalformedValue("the deadLetterTargetArn of the RedrivePolicy is no ARN of a queue");
  if (isTold && (maxReceiveCount === null || maxReceiveCount < 1)) {
    throw new MalformedValue("the RedrivePolicy has no maxReceiveCount of 1 or more");
  }
  return { targetArn, maxReceiveCount };
}

function redriveAllowOf(value: unknown): Told<AuditedRedriveAllow> {
  const policy = objectOf(value, "RedriveAllowPolicy");
  if (policy === "untold") return policy;
  if (policy === null) return { permission: "allowAll", sourceArns: [] };
  const { redrivePermission: permission, sourceQueueArns = [] } = policy;
  if (permission !== "allowAll" && permission !== "denyAll" && permission !== "byQueue") {
    throw new MalformedValue(
      "the redrivePermission of the RedriveAllowPolicy is none of allowAll, denyAll and byQueue",
    );
  }
  if (!isListOfTexts(sourceQueueArns))
    throw new MalformedValue("the sourceQueueArns of the RedriveAllowPolicy are no list");
  return { permission, sourceArns: sourceQueueArns };
}

/** Both are answered only where they are in force; a queue of which neither is told may have SSE-SQS all the same. */
function encryptionOf(attributes: QueueAttributes): Told<boolean> {
  const { KmsMasterKeyId: key, SqsManagedSseEnabled: managed } = attributes;
  if (key !== undefined && key !== null && key !== "") return key === unreadable ? "untold" : true;
  if (managed === undefined || managed === null || managed === unreadable) return "untold";
  return managed === true || managed === "true";
}

function keyOf(value: unknown): Told<string | null> {
  if (value === unreadable) return "untold";
  return typeof value === "string" && value !== "" ? value : null;
}

function statementsOf(value: unknown): Told<readonly Entry[]> {
  const policy = objectOf(value, "Policy");
  if (policy === "untold") return policy;
  const { Statement: given = [] } = policy ?? {};
  const statements: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (!statements.every(isEntry)) throw new MalformedValue("the Statement of the Policy is no list of statements");
  return statements;
}

/** JSON in a text, as SQS and SNS keep their policies, or the same as data. Null where there is none. */
export function objectOf(value: unknown, key: string): Told<Entry | null> {
  if (value === undefined || value === null || value === "") return null;
  if (value === unreadable) return "untold";
  if (isEntry(value)) return value;
  const parsed = typeof value === "string" ? parse(value) : undefined;
  if (!isEntry(parsed)) throw new MalformedValue(`${key} is no JSON object`);
  return parsed;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
