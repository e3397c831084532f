import { anyOne, anyRun, fitsWildcards } from "../../../../declare/wildcards.ts";
import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import { type Answer, anyOf } from "../../prove/semantics/filter-policy.ts";
import { isServiceArn, principalOf } from "../../compile/services.ts";
import { type AuditedQueue, accountIn, known } from "../deployment.ts";

const sending = "sqs:sendmessage";

/**
 * True if a policy lets anyone send, with or without an AWS account. A denial with a condition may forbid it again, so
 * the answer is then false. Source: SQS Developer Guide, "Using identity-based policies with Amazon SQS"; IAM User
 * Guide, "Policy evaluation logic".
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
 * Answers whether a policy lets a topic, a rule or a bucket send to the queue. Without a statement for it none may, not
 * even one of the same account. Source: SNS Developer Guide, "Subscribing an Amazon SQS queue to an Amazon SNS topic".
 */
export function serviceMaySend(statements: readonly Entry[], queueArn: string, senderArn: string): Answer {
  const own = statements.filter((each) => isAbout(each, queueArn) && isService(each["Principal"], senderArn));
  const answers = (effect: string): Answer[] =>
    own
      .filter((each) => each["Effect"] === effect && !(effect === "Deny" && isAboutTransport(each)))
      .map((each) => (isIndirect(each) ? "unknown" : holds(each["Condition"], senderArn)));
  const denied = anyOf(answers("Deny"));
  const allowed = anyOf(answers("Allow"));
  if (denied === "yes" || allowed === "no") return "no";
  return denied === "unknown" ? denied : allowed;
}

/**
 * The rules and buckets that a policy lets send by their whole ARNs, as a declaration names them.
 *
 * @param condition a key that the statement has as well, in lower case
 */
export function servicesLetIn({ statements, arn, fifo }: AuditedQueue, condition = "aws:sourcearn"): readonly string[] {
  // Neither service can send to a compiled FIFO queue.
  const told = fifo ? [] : (known(statements) ?? []);
  const named = told
    .filter((each) => each["Effect"] === "Allow" && !isIndirect(each) && isAbout(each, arn))
    .map((each) => each["Condition"])
    .filter(
      (each) => isEntry(each) && hasOnlySources(each) && JSON.stringify(each).toLowerCase().includes(`"${condition}"`),
    )
    .flatMap(sourceArnsOf);
  return [...new Set(named)].filter(
    (each) => isServiceArn(each) && !/[*?]/.test(each) && serviceMaySend(told, arn, each) !== "no",
  );
}

/** True if a statement asks for nothing but the ARN and the account of the sender. */
function hasOnlySources(condition: Entry): boolean {
  return Object.entries(condition).every(
    ([operator, keys]) =>
      /^(Arn|String)(Equals|Like)$/i.test(operator) &&
      Object.keys(isEntry(keys) ? keys : {}).every((key) => /^aws:source(arn|account)$/i.test(key)),
  );
}

/**
 * The principals that a policy lets in, each with its actions, beside the account of the queue as a whole.
 *
 * @param sources the ARNs of the topics, rules and buckets that a declaration lets send
 */
export function othersLetIn({ statements, arn }: AuditedQueue, sources: readonly string[]): readonly string[] {
  const account = new RegExp(`^(arn:[^:]*:iam::)?${accountIn(arn)}(:root)?$`);
  const rights = (known(statements) ?? [])
    .filter((each) => each["Effect"] === "Allow" && (isIndirect(each) || isForQueue(each, arn)))
    .flatMap((each) => {
      const all = sourceArnsOf(each["Condition"]);
      // A pattern also lets in topics of other accounts, which no list shows.
      const others = all.filter((pattern) => !sources.includes(pattern));
      if (all.length > 0 && others.length === 0) return [];
      const actions = "NotAction" in each ? ["actions that it does not name"] : listOf(each["Action"]);
      return principalsOf(each["Principal"])
        .filter((name) => !account.test(name))
        .map((name) => ({ name: others.length === 0 ? name : `${name} for ${others.join(", ")}`, actions }));
    });
  return [...Map.groupBy(rights, ({ name }) => name)].map(
    ([name, own]) =>
      `${name} (${[...new Set(own.flatMap(({ actions }) => actions))].map((each) => each.replace(/^sqs:/i, "")).join(", ")})`,
  );
}

function principalsOf(principal: unknown): readonly string[] {
  if (isAnyone(principal)) return ["anyone"];
  return isEntry(principal) ? Object.values(principal).flatMap(listOf) : ["principals that it does not name"];
}

/**
 * The values of every condition on `aws:SourceArn`. The ARN of a bucket has no region and no account, so the wildcards
 * of AWS's example stand for nothing. Source: S3 User Guide, "Granting permissions to publish event notification
 * messages to a destination".
 */
function sourceArnsOf(condition: unknown): readonly string[] {
  return Object.values(isEntry(condition) ? condition : {}).flatMap((keys) =>
    Object.entries(isEntry(keys) ? keys : {}).flatMap(([key, values]) =>
      key.toLowerCase() === "aws:sourcearn"
        ? listOf(values).map((each) => each.replace(/^(arn:[^:]*:s3):\*:\*:/, "$1:::"))
        : [],
    ),
  );
}

/** True if a statement is about sending to this queue. A statement with exceptions may be. */
function isAbout(statement: Entry, queueArn: string): boolean {
  if (isIndirect(statement)) return true;
  return (
    isForQueue(statement, queueArn) && listOf(statement["Action"]).some((each) => isLike(each.toLowerCase(), sending))
  );
}

function isForQueue({ Resource: resource }: Entry, queueArn: string): boolean {
  return resource === undefined || listOf(resource).some((each) => isLike(each, queueArn));
}

/** True if a statement names exceptions. Such statements are not evaluated. */
function isIndirect(statement: Entry): boolean {
  return ["NotAction", "NotResource", "NotPrincipal"].some((key) => key in statement);
}

function isAnyone(principal: unknown): boolean {
  return principal === "*" || (isEntry(principal) && listOf(principal["AWS"]).includes("*"));
}

function isService(principal: unknown, arn: string): boolean {
  // A statement with NotPrincipal has no Principal.
  if (principal === undefined || isAnyone(principal)) return true;
  return isEntry(principal) && listOf(principal["Service"]).includes(principalOf(arn));
}

function hasCondition({ Condition: condition }: Entry): boolean {
  return isEntry(condition) ? Object.keys(condition).length > 0 : condition !== undefined;
}

/** True if a statement denies requests without TLS. Topics use TLS, so such a denial does not affect them. */
export function isAboutTransport({ Condition: condition }: Entry): boolean {
  if (!isEntry(condition)) return false;
  const [operator, ...more] = Object.entries(condition);
  if (operator === undefined || more.length > 0) return false;
  const [name, keys] = operator;
  return (
    /^Bool(IfExists)?$/i.test(name) && isEntry(keys) && Object.keys(keys).join().toLowerCase() === "aws:securetransport"
  );
}

/** All operators must match, and all keys of each. One matching value of a key is enough. */
function holds(condition: unknown, senderArn: string): Answer {
  if (condition === undefined) return "yes";
  if (!isEntry(condition)) return "unknown";
  const answers = Object.entries(condition).flatMap(([operator, keys]) =>
    isEntry(keys)
      ? Object.entries(keys).map(([key, values]) => keyHolds(operator, key, values, senderArn))
      : ["unknown"],
  ) as Answer[];
  if (answers.includes("no")) return "no";
  return answers.includes("unknown") ? "unknown" : "yes";
}

function keyHolds(operator: string, key: string, values: unknown, senderArn: string): Answer {
  const given: Readonly<Record<string, string>> = {
    "aws:sourcearn": senderArn,
    // The ARN of a bucket does not name its account.
    ...(accountIn(senderArn) === "" ? {} : { "aws:sourceaccount": accountIn(senderArn) }),
    "aws:sourceowner": accountIn(senderArn),
  };
  const value = given[key.toLowerCase()];
  const isPositive = /^(Arn|String)(Equals|Like)(IfExists)?$/i.test(operator);
  const patterns = listOf(values);
  if (value === undefined || !isPositive || patterns.length === 0) return "unknown";
  // ArnEquals takes wildcards as ArnLike does. Source: IAM User Guide, "Amazon Resource Name (ARN) condition
  // operators".
  const isExact = /^StringEquals/i.test(operator);
  return patterns.some((each) => (isExact ? each === value : isLike(each, value))) ? "yes" : "no";
}

function listOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
}

/** Matches `*` with any text and `?` with any character. */
function isLike(pattern: string, text: string): boolean {
  const pieces = [...pattern].map((character) => (character === "*" ? anyRun : character === "?" ? anyOne : character));
  return fitsWildcards(pieces, text);
}
