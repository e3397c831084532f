import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { parseInnerJson } from "../../../../foreign/parse-json.ts";
import { type AuditedQueue, type AuditedRedriveAllow, type Told, isFifo, isQueueArn, nameIn } from "../deployment.ts";

/**
 * Stands for a value that exists and cannot be read: a secret, a value that is not known yet, or one that was not asked
 * for.
 */
export const unreadable: unique symbol = Symbol("unreadable");

/** The attributes of a queue by SQS's own names, as texts or as data. */
export type QueueAttributes = Readonly<Record<string, unknown>>;

/**
 * The reader of a single value throws it, with half a sentence about the value. The reader of the whole entry catches
 * it.
 */
export class MalformedValue extends Error {
  override readonly name = "MalformedValue";
}

/** Reads a list. It leaves out an entry that is malformed, and reports it. */
export function readEach<Given, Value>(
  list: readonly Given[],
  read: (given: Given) => Value,
  report: (given: Given, index: number, problem: MalformedValue) => void,
): Value[] {
  return list.flatMap((each, index) => {
    try {
      return [read(each)];
    } catch (cause) {
      if (!(cause instanceof MalformedValue)) throw cause;
      report(each, index, cause);
      return [];
    }
  });
}

/**
 * Reads an answer of `GetQueueAttributes`, or the same attributes from another source. Source: API Reference,
 * `GetQueueAttributes`. Every value is a text there.
 *
 * @throws MalformedValue
 */
export function queueOf(attributes: QueueAttributes): AuditedQueue {
  const arn = attributes["QueueArn"];
  if (!isQueueArn(arn)) throw new MalformedValue("the QueueArn of a queue is not the ARN of a queue");
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
    attributes,
  };
}

/** A whole number that is not negative, from a number or a text. Null if unknown. */
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
  // AWS accepts both a number and a text, and keeps it as it was sent.
  const maxReceiveCount = numberOf(policy, "maxReceiveCount");
  const isTold = policy["maxReceiveCount"] !== unreadable;
  if (!isQueueArn(targetArn))
    throw new MalformedValue("the deadLetterTargetArn of the RedrivePolicy is not the ARN of a queue");
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
      "the redrivePermission of the RedriveAllowPolicy is not one of allowAll, denyAll and byQueue",
    );
  }
  if (!Array.isArray(sourceQueueArns) || !sourceQueueArns.every((each) => typeof each === "string"))
    throw new MalformedValue("the sourceQueueArns of the RedriveAllowPolicy are no list");
  return { permission, sourceArns: sourceQueueArns };
}

/** AWS returns either attribute only if it is in force. A queue without both may still have SSE-SQS. */
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

/** A policy from JSON in a text, as SQS and SNS keep it, or from data. Null if there is none. */
export function objectOf(value: unknown, key: string): Told<Entry | null> {
  if (value === undefined || value === null || value === "") return null;
  if (value === unreadable) return "untold";
  if (isEntry(value)) return value;
  const parsed = typeof value === "string" ? parseInnerJson(value) : undefined;
  if (!isEntry(parsed)) throw new MalformedValue(`${key} is no JSON object`);
  return parsed;
}
