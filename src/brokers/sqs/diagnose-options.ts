import type { Diagnostic, PathSegment } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Plan } from "../../plan/plan.ts";
import { parseArn } from "./arn.ts";
import { tagLimits } from "./capabilities.ts";
import { diagnoseLambda } from "./diagnose-lambda.ts";
import type { Raw } from "./option-problems.ts";
import { diagnosePlaceOf, isMapping, misfit, unknownKey } from "./option-problems.ts";
import type { SqsOptions } from "./options.ts";

/** What a target may say beside its region and its strategy. */
export const optionNames = ["account", "kmsKey", "tags", "emptiedDeadQueues", "lambda"] as const;

/** What is wrong with the options of a target, whatever is declared. */
export function diagnoseOptions(target: object): Diagnostic[] {
  const raw = target as Raw;
  const known = ["broker", "region", "strategy", ...optionNames];
  const unknown = Object.keys(raw).filter((key) => !known.includes(key));
  return [
    ...unknown.map((key) => unknownKey(["target", key], "option of a target for Amazon SQS", key, known)),
    ...diagnoseAccount(raw["account"]),
    ...diagnoseKey(raw["kmsKey"], raw),
    ...diagnoseTags(raw["tags"]),
    ...diagnoseEmptied(raw["emptiedDeadQueues"]),
    ...diagnoseLambda(raw["lambda"], raw),
  ];
}

/** What the options say of consumers that there are not. */
export function diagnoseOptionNames({ emptiedDeadQueues = [], lambda = {} }: SqsOptions, plan: Plan): Diagnostic[] {
  const consumers = plan.consumers.map(({ consumer }) => consumer);
  const strange = (path: readonly PathSegment[], name: string): Diagnostic[] =>
    consumers.includes(name) ? [] : [unknownKey(path, "consumer of the declaration", name, consumers)];
  return [
    ...emptiedDeadQueues.flatMap((name, index) => strange(["target", "emptiedDeadQueues", index], name)),
    ...Object.keys(lambda).flatMap((name) => strange(["target", "lambda", name], name)),
  ];
}

/** Nobody but the account can see the policy of its key, and without the right one both queues of a topic refuse what it brings. */
export function keyWarning({ kmsKey }: SqsOptions): Diagnostic[] {
  if (kmsKey === undefined) return [];
  return [
    diagnostic("RD623", {
      path: ["target", "kmsKey"],
      message: "the policy of the key decides whether anything that is published arrives",
      value: kmsKey,
      notes: [
        "without it neither the work queue nor the queue of what is undelivered takes a message from a topic, and SNS gives up on it",
      ],
      help: "let the service sns.amazonaws.com do kms:GenerateDataKey* and kms:Decrypt in the key's policy, and consumers kms:Decrypt, with kms:GenerateDataKey for the copies to the dead queue",
    }),
  ];
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
 * A key is checked for what a queue of SQS cannot be without: its topics have to be able to use it, and the policy of a key that AWS
 * manages cannot be changed. Source: SNS Developer Guide, "Enabling server-side encryption for a topic with an encrypted queue subscribed".
 */
function diagnoseKey(key: unknown, target: Raw): Diagnostic[] {
  const path = ["target", "kmsKey"];
  if (key === undefined) return [];
  const arn = typeof key === "string" ? parseArn(key) : null;
  const name = arn?.service === "kms" ? arn.resource.replace(/^key\//, "") : key;
  if (typeof name !== "string" || !(keyId.test(name) || keyAlias.test(name))) {
    const help = "write the key's id, its alias such as alias/shop, or its ARN";
    return [misfit(path, key, "this names no key of KMS", help)];
  }
  if (name.startsWith("alias/aws/")) {
    return [
      diagnostic("RD617", {
        path,
        message: `${name} is a key that AWS manages; SNS cannot use it, so nothing published would reach a queue`,
        value: key,
        notes: ["nobody can change the policy of such a key, so it lets no service in"],
        help: "use a key of your own whose policy lets sns.amazonaws.com in, or leave kmsKey out, which is SSE-SQS",
      }),
    ];
  }
  return arn === null ? [] : diagnosePlaceOf(path, arn, target);
}

function diagnoseTags(tags: unknown): Diagnostic[] {
  const path = ["target", "tags"];
  if (tags === undefined) return [];
  if (!isMapping(tags))
    return [misfit(path, tags, "tags are no mapping", "write for example tags: { team: payments }")];
  const entries = Object.entries(tags);
  if (entries.length > tagLimits.count) {
    const message = `there are ${entries.length} tags; ${tagLimits.count} are allowed`;
    return [misfit(path, entries.length, message, "AWS takes 50 on a queue, of which 4 are left for Redeliver's own")];
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
    return [misfit(path, key, "tags that begin with aws: and redeliver: are set by others", "rename it")];
  }
  if (typeof value === "string" && value.length <= tagLimits.valueLength && characters.test(value)) return [];
  const message = `a tag's value is a text of at most ${tagLimits.valueLength} letters, digits, spaces or _ . : / = + - @`;
  return [misfit(path, value, message, "shorten it, or put it in quotes")];
}

function diagnoseEmptied(names: unknown): Diagnostic[] {
  if (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === "string"))) return [];
  const help = "write for example emptiedDeadQueues: [billing]";
  return [misfit(["target", "emptiedDeadQueues"], names, "this is no list of consumers", help)];
}
