import type { Entry } from "../../entries.ts";
import { isEntry } from "../../entries.ts";
import { accountIn } from "../deployment.ts";

/** Whether a policy lets somebody do something; unknown where it has a condition that is not evaluated here. */
export type Access = "yes" | "no" | "unknown";

const sending = "sqs:sendmessage";

/**
 * Whether a policy lets everybody send, whoever it is: AWS account or none. A denial with a condition may take it back, so nothing is said then.
 * Source: SQS Developer Guide, "Using identity-based policies with Amazon SQS"; IAM User Guide, "Policy evaluation logic".
 */
export function anyoneMaySend(statements: readonly Entry[], queueArn: string): boolean {
  const own = statements.filter((each) => isAbout(each, queueArn));
  const isOpen = own.some(
    (each) => each["Effect"] === "Allow" && isAnyone(each["Principal"]) && !hasCondition(each) && !isIndirect(each),
  );
  const isTakenBack = own.some((each) => each["Effect"] === "Deny" && !isAboutTransport(each));
  return isOpen && !isTakenBack;
}

/**
 * Whether a policy lets a topic send to the queue. Without a statement for it no topic may, not even one of the same account.
 * Source: SNS Developer Guide, "Subscribing an Amazon SQS queue to an Amazon SNS topic".
 */
export function topicMaySend(statements: readonly Entry[], queueArn: string, topicArn: string): Access {
  const own = statements.filter((each) => isAbout(each, queueArn) && isTopicService(each["Principal"]));
  const answers = (effect: string): Access[] =>
    own
      .filter((each) => each["Effect"] === effect && !(effect === "Deny" && isAboutTransport(each)))
      .map((each) => (isIndirect(each) ? "unknown" : holds(each["Condition"], topicArn)));
  const denied = anyOf(answers("Deny"));
  const allowed = anyOf(answers("Allow"));
  if (denied === "yes" || allowed === "no") return "no";
  return denied === "unknown" ? denied : allowed;
}

/** Whether a statement is about sending to this queue. One that says it the other way round may be. */
function isAbout(statement: Entry, queueArn: string): boolean {
  if (isIndirect(statement)) return true;
  const { Action: action, Resource: resource } = statement;
  const isAction = listOf(action).some((each) => isLike(each.toLowerCase(), sending));
  return isAction && (resource === undefined || listOf(resource).some((each) => isLike(each, queueArn)));
}

/** Says whom or what it is not about; such statements are not evaluated. */
function isIndirect(statement: Entry): boolean {
  return ["NotAction", "NotResource", "NotPrincipal"].some((key) => key in statement);
}

function isAnyone(principal: unknown): boolean {
  return principal === "*" || (isEntry(principal) && listOf(principal["AWS"]).includes("*"));
}

function isTopicService(principal: unknown): boolean {
  // It is left out where NotPrincipal stands in its place.
  if (principal === undefined || isAnyone(principal)) return true;
  return isEntry(principal) && listOf(principal["Service"]).includes("sns.amazonaws.com");
}

function hasCondition({ Condition: condition }: Entry): boolean {
  return isEntry(condition) ? Object.keys(condition).length > 0 : condition !== undefined;
}

/** Topics send through TLS, so a denial of what comes without it is none for them. */
function isAboutTransport({ Condition: condition }: Entry): boolean {
  if (!isEntry(condition)) return false;
  const [operator, ...more] = Object.entries(condition);
  if (operator === undefined || more.length > 0) return false;
  const [name, keys] = operator;
  return (
    /^Bool(IfExists)?$/i.test(name) && isEntry(keys) && Object.keys(keys).join().toLowerCase() === "aws:securetransport"
  );
}

/** All operators have to hold, and all keys of each; of several values one is enough. */
function holds(condition: unknown, topicArn: string): Access {
  if (condition === undefined) return "yes";
  if (!isEntry(condition)) return "unknown";
  const answers = Object.entries(condition).flatMap(([operator, keys]) =>
    isEntry(keys)
      ? Object.entries(keys).map(([key, values]) => keyHolds(operator, key, values, topicArn))
      : ["unknown"],
  ) as Access[];
  if (answers.includes("no")) return "no";
  return answers.includes("unknown") ? "unknown" : "yes";
}

function keyHolds(operator: string, key: string, values: unknown, topicArn: string): Access {
  const given: Readonly<Record<string, string>> = {
    "aws:sourcearn": topicArn,
    "aws:sourceaccount": accountIn(topicArn),
    "aws:sourceowner": accountIn(topicArn),
  };
  const value = given[key.toLowerCase()];
  const isPositive = /^(Arn|String)(Equals|Like)(IfExists)?$/i.test(operator);
  const patterns = listOf(values);
  if (value === undefined || !isPositive || patterns.length === 0) return "unknown";
  // ArnEquals takes wildcards as ArnLike does. Source: IAM User Guide, "Amazon Resource Name (ARN) condition operators".
  const isExact = /^StringEquals/i.test(operator);
  return patterns.some((each) => (isExact ? each === value : isLike(each, value))) ? "yes" : "no";
}

function anyOf(answers: readonly Access[]): Access {
  if (answers.includes("yes")) return "yes";
  return answers.includes("unknown") ? "unknown" : "no";
}

function listOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
}

/** `*` is any text, `?` any character. Walked by hand, since a pattern of a stranger makes a slow regular expression. */
function isLike(pattern: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let position = 0; position < text.length;) {
    if (pattern[at] === "*") [star, resume] = [at++, position];
    else if (pattern[at] === "?" || pattern[at] === text[position]) [at, position] = [at + 1, position + 1];
    else if (star === -1) return false;
    else [at, position] = [star + 1, ++resume];
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}
