import { sharesDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { isServiceArn, principalOf } from "./services.ts";
import { type Diagnostic, type PathSegment, diagnosed } from "../../../diagnostics/diagnostic.ts";
import { isDirect, type Plan } from "../../../plan/plan.ts";
import { misfit, unknownOption, unknownOptions } from "../../../contract/shared-problems.ts";
import { parseArn } from "./arn.ts";
import { type SqsTarget, tagLimits } from "./capabilities.ts";
import { diagnoseLambda } from "./diagnose-lambda.ts";
import { type Raw, diagnosePlaceOf } from "./option-problems.ts";
import type { SqsOptions } from "./options.ts";
import { isEntry } from "../../../foreign/entries.ts";

/** The options of a target beside its region and its strategy. */
export const optionNames = ["partition", "account", "kmsKey", "tags", "emptiedDeadQueues", "lambda"] as const;

/** Finds problems with the options of a target, without looking at the declaration. */
export function diagnoseOptions(target: object): Diagnostic[] {
  const raw = target as Raw;
  const known = ["broker", "region", "strategy", "strategies", "deadQueue", ...optionNames];
  return [
    ...unknownOptions(["target"], "option of a target for Amazon SQS", raw, known),
    ...diagnoseAccount(raw["account"]),
    ...diagnoseKey(raw["kmsKey"], raw),
    ...diagnoseTags(raw["tags"]),
    ...diagnoseEmptied(raw["emptiedDeadQueues"]),
    ...diagnoseLambda(raw["lambda"], raw),
  ];
}

/** Finds options for undeclared consumers. */
export function diagnoseOptionNames({ emptiedDeadQueues = [], lambda = {} }: SqsOptions, plan: Plan): Diagnostic[] {
  const consumers = plan.consumers.map(({ consumer }) => consumer);
  const strange = (path: readonly PathSegment[], name: string): Diagnostic[] =>
    consumers.includes(name) ? [] : [unknownOption(path, "consumer of the declaration", name, consumers)];
  return [
    ...emptiedDeadQueues.flatMap((name, index) => strange(["target", "emptiedDeadQueues", index], name)),
    ...Object.keys(lambda).flatMap((name) => strange(["target", "lambda", name], name)),
  ];
}

/**
 * Only the account can see the policy of its key. Without the right policy, both queues of a topic refuse its messages.
 * A producer that sends straight to a queue gets the refusal itself.
 */
export function keyWarning({ kmsKey }: SqsOptions, { consumers, sources }: Plan): Diagnostic[] {
  if (kmsKey === undefined || consumers.every(isDirect)) return [];
  const used = consumers.flatMap(({ from }) => Object.keys(from)).map((source) => sources[source]?.name ?? "");
  const principals = new Set(used.map((name) => (isServiceArn(name) ? principalOf(name) : "sns.amazonaws.com")));
  return diagnosed("RD623", {
    path: ["target", "kmsKey"],
    message: "published messages arrive only if the policy of the key allows it",
    value: kmsKey,
    notes: [
      "without it neither the work queue nor the queue of undelivered messages accepts a message from a source, and the service gives up on it",
    ],
    help: `in the key's policy allow ${[...principals].join(" and ")} kms:GenerateDataKey* and kms:Decrypt, and consumers kms:Decrypt, with kms:GenerateDataKey for copies to the dead queue`,
  });
}

/**
 * Of each message group of a FIFO queue, SQS shows only the letters in front. In a shared dead queue, the letters of one
 * consumer would wait behind those of another.
 */
export function refuseSharedFifo({ consumers }: Plan, target: SqsTarget): Diagnostic[] {
  const inOrder = consumers
    .filter((each) => each.order === "per-key" && sharesDeadQueue(target, each.deadQueue))
    .map(({ consumer }) => consumer);
  if (inOrder.length === 0) return [];
  const message = `${inOrder.join(", ")} cannot share a dead queue: with order: "per-key" it is a FIFO queue`;
  const note = "letters of one message group would wait behind those of another consumer, and nobody could send them";
  const help = "name a dead queue of its own in deadLetter.queue of each, or leave deadQueue out";
  return [misfit(["target", "deadQueue"], target.deadQueue, message, help, [note])];
}

function diagnoseAccount(account: unknown): Diagnostic[] {
  if (account === undefined || (typeof account === "string" && /^\d{12}$/.test(account))) return [];
  const message =
    typeof account === "number"
      ? "the account is a number, not a text: YAML drops its zeros"
      : "an account of AWS is a text of twelve digits";
  return [misfit(["target", "account"], account, message, 'write for example account: "123456789012"')];
}

const keyId = /^(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const keyAlias = /^alias\/[A-Za-z0-9/_-]{1,250}$/;

/**
 * Checks that topics can use the key, because the queues of SQS depend on it. The policy of a key that AWS manages
 * cannot be changed, so such a key is refused. Source: SNS Developer Guide, "Enabling server-side encryption for a
 * topic with an encrypted queue subscribed".
 */
function diagnoseKey(key: unknown, target: Raw): Diagnostic[] {
  const path = ["target", "kmsKey"];
  if (key === undefined) return [];
  const arn = typeof key === "string" ? parseArn(key) : null;
  const name = arn?.service === "kms" ? arn.resource.replace(/^key\//, "") : key;
  if (typeof name !== "string" || !(keyId.test(name) || keyAlias.test(name))) {
    const help = "write the key's id, its alias such as alias/shop, or its ARN";
    return [misfit(path, key, "this is not the name of a KMS key", help)];
  }
  if (name.startsWith("alias/aws/")) {
    return diagnosed("RD617", {
      path,
      message: `${name} is a key that AWS manages; SNS cannot use it, so no published message would reach a queue`,
      value: key,
      notes: ["the policy of such a key cannot be changed, so it allows no service"],
      help: "use a key of your own whose policy allows sns.amazonaws.com, or leave kmsKey out for SSE-SQS",
    });
  }
  return arn === null ? [] : diagnosePlaceOf(path, arn, target);
}

function diagnoseTags(tags: unknown): Diagnostic[] {
  const path = ["target", "tags"];
  if (tags === undefined) return [];
  if (!isEntry(tags))
    return [misfit(path, tags, "tags are not a mapping", "write for example tags: { team: payments }")];
  const entries = Object.entries(tags);
  if (entries.length > tagLimits.count) {
    const message = `there are ${entries.length} tags; ${tagLimits.count} are allowed`;
    return [misfit(path, entries.length, message, "AWS allows 50 on a queue; Redeliver needs 4 of them")];
  }
  return entries.flatMap(([key, value]) => diagnoseTag([...path, key], key, value));
}

function diagnoseTag(path: readonly PathSegment[], key: string, value: unknown): Diagnostic[] {
  const characters = /^[\p{L}\p{N}\p{Z}_.:/=+@-]*$/u;
  if (key.length < 1 || key.length > tagLimits.keyLength || !characters.test(key)) {
    const message = `a tag's key has 1 to ${tagLimits.keyLength} letters, digits, spaces or _ . : / = + - @`;
    return [misfit(path, key, message, "rename it")];
  }
  if (/^(aws|redeliver):/i.test(key)) {
    return [misfit(path, key, "AWS and Redeliver set the tags that begin with aws: and redeliver:", "rename it")];
  }
  if (typeof value === "string" && value.length <= tagLimits.valueLength && characters.test(value)) return [];
  const message = `a tag's value is a text of at most ${tagLimits.valueLength} letters, digits, spaces or _ . : / = + - @`;
  return [misfit(path, value, message, "shorten it, or put it in quotes")];
}

function diagnoseEmptied(names: unknown): Diagnostic[] {
  if (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === "string"))) return [];
  const help = "write for example emptiedDeadQueues: [billing]";
  return [misfit(["target", "emptiedDeadQueues"], names, "this is not a list of consumers", help)];
}
