import type { RegisteredResource } from "../pulumi.ts";
import { queueArn, queueUrl } from "./assigned-by-aws.ts";
import { accountId } from "./clients.ts";
import type { Entry } from "./cloudformation.ts";

const region = "eu-west-1";

/** AWS's answer about a resource, as `adopt` reads it, and its attributes and tags. */
export interface Answer {
  readonly answer: Entry;
  readonly attributes: Entry;
  readonly tags: unknown;
}

/** An answer with each attribute as a text. */
function attributed(given: Entry, tags?: unknown): Answer {
  const text = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const attributes = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)]));
  return { answer: { Attributes: attributes }, attributes, tags };
}

/**
 * AWS's answers after the deployment of a template with CloudFormation, by the ids of an import. Source: SQS API
 * Reference, `GetQueueAttributes`, for the values that a template leaves out; Lambda API Reference,
 * `GetEventSourceMapping`.
 */
export function answersOf(template: readonly (readonly [string, Entry])[]): ReadonlyMap<string, Answer> {
  const policyOf = (url: string): unknown =>
    template.find(([, { Queues }]) => (Queues as readonly string[] | undefined)?.[0] === url)?.[1]["PolicyDocument"];
  const answers = template.flatMap(([type, { Tags, ...own }], index): readonly (readonly [string, Answer])[] => {
    const list = (Tags ?? []) as readonly { readonly Key: string; readonly Value: string }[];
    const tags = Object.fromEntries(list.map(({ Key, Value }) => [Key, Value]));
    if (type === "AWS::SQS::Queue") {
      const { QueueName, ...more } = own;
      const url = queueUrl(region, String(QueueName));
      const filledIn = { MaximumMessageSize: 1_048_576, SqsManagedSseEnabled: more["KmsMasterKeyId"] === undefined };
      const given = { ...filledIn, ...more, QueueArn: queueArn(region, String(QueueName)), Policy: policyOf(url) };
      return [[url, attributed(given, tags)]];
    }
    if (type === "AWS::SNS::Subscription") {
      const SubscriptionArn = `${String(own["TopicArn"])}:${index}`;
      return [[SubscriptionArn, attributed({ ...own, SubscriptionArn })]];
    }
    if (type !== "AWS::Lambda::EventSourceMapping") return [];
    const FunctionArn = `arn:aws:lambda:${region}:${accountId}:function:${String(own["FunctionName"])}`;
    const attributes = { ...own, FunctionArn, UUID: `uuid-${index}`, State: "Enabled" };
    return [[attributes.UUID, { answer: attributes, attributes, tags }]];
  });
  return new Map(answers);
}

/** The inputs that differ from AWS's word with a small first letter. */
const otherNames: Readonly<Record<string, string>> = {
  VisibilityTimeout: "visibilityTimeoutSeconds",
  MessageRetentionPeriod: "messageRetentionSeconds",
  ReceiveMessageWaitTimeSeconds: "receiveWaitTimeSeconds",
  MaximumMessageSize: "maxMessageSize",
  TopicArn: "topic",
};

/** Attributes become numbers and flags by their type in the schema. Source: terraform-provider-aws, `attrmap.go`. */
function inputsIn(attributes: Entry, left: readonly string[]): Entry {
  const entries = Object.entries(attributes).flatMap(([key, value]) => {
    if (left.includes(key)) return [];
    const typed =
      typeof value === "string" && /^(\d+|true|false)$/.test(value) ? (JSON.parse(value) as unknown) : value;
    return [[otherNames[key] ?? `${key.charAt(0).toLowerCase()}${key.slice(1)}`, typed] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * The inputs that the provider reads for an id. An id can end with `@` and a region. A queue has its region in the URL;
 * anything else has that of the provider, which is the target's. Source: terraform-provider-aws 6, `sqs/queue.go`,
 * `sqs/queue_policy.go`, `sqs/queue_redrive_allow_policy.go`, `sns/topic_subscription.go`,
 * `lambda/event_source_mapping.go`, and `importRegion` of `provider/sdkv2`.
 */
export function readByAws(type: string, importId: string, answers: ReadonlyMap<string, Answer>): Entry {
  const [, id = importId, given] = /^(.+)@([a-z]{2}(?:-[a-z]+)+-\d{1,2})$/.exec(importId) ?? [];
  const found = answers.get(id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  const { attributes, tags } = found;
  const place = { region: given ?? /^https:\/\/sqs\.([^.]+)\./.exec(id)?.[1] ?? region };
  switch (type.split(":").at(-1)) {
    case "Queue": {
      // The two policies are computed in the schema, so a program may leave them out.
      const inputs = inputsIn(attributes, ["QueueArn", "Policy", "RedriveAllowPolicy"]);
      return { ...place, name: id.split("/").at(-1), tags, ...inputs };
    }
    case "QueuePolicy":
      return { ...place, queueUrl: id, policy: attributes["Policy"] };
    case "RedriveAllowPolicy":
      return { ...place, queueUrl: id, redriveAllowPolicy: attributes["RedriveAllowPolicy"] };
    case "TopicSubscription":
      return { ...place, ...inputsIn(attributes, ["SubscriptionArn", "Region"]) };
    default: {
      const { State, FunctionArn, ...own } = attributes;
      const inputs = inputsIn(own, ["UUID", "FunctionName"]);
      return { ...place, tags, ...inputs, functionName: FunctionArn, enabled: State === "Enabled" };
    }
  }
}

/** Inputs that a program may leave out: computed in the schema. */
const computed = new Set(["deduplicationScope", "fifoThroughputLimit", "redrivePolicy", "sqsManagedSseEnabled"]);

/** The defaults of the schema that no reading sets. Source: terraform-provider-aws, `sns/topic_subscription.go`. */
const unread = { confirmationTimeoutInMinutes: 1, endpointAutoConfirms: false };

/**
 * Both inputs as the provider compares them: equal JSON is no difference, and neither is the name of a function instead
 * of its ARN. An alias or a version is one. Source: terraform-provider-aws, `suppressEquivalentFunctionNameOrARN`.
 */
export function comparedByAws(
  read: Entry,
  { type, inputs, ignoreChanges = [] }: RegisteredResource,
): readonly [read: Entry, declared: Entry] {
  const declared: Entry = type.endsWith(":TopicSubscription") ? { ...unread, ...inputs } : inputs;
  const compared = (own: Entry): Entry => {
    const entries = Object.entries(own).flatMap(([key, value]) => {
      if (ignoreChanges.includes(key) || (computed.has(key) && !(key in declared))) return [];
      if (/policy$/i.test(key)) return [[key, JSON.parse(String(value)) as unknown]];
      const isSame = key === "functionName" && String(value).split(":")[6] === declared[key];
      return [[key, isSame ? declared[key] : value]];
    });
    return Object.fromEntries(entries) as Entry;
  };
  return [compared(read), compared(declared)];
}
