import { api } from "./claim.ts";
import type { Call } from "./recording-proxy.ts";

/** The resources and messages of a call, from any tool. */
export type Thing =
  | { readonly kind: "queue"; readonly isFifo: boolean | null; readonly attributes: Attributes }
  | { readonly kind: "subscription"; readonly attributes: Attributes }
  | { readonly kind: "publication"; readonly topic: string; readonly attributes: number; readonly bytes: number }
  | { readonly kind: "template"; readonly resources: number; readonly outputs: number; readonly bytes: number };

/** Values in the form of SQS and SNS: texts, some of them JSON. */
type Attributes = Readonly<Record<string, string>>;

/** A number that AWS documents, and that moto does not check. */
export interface Limit {
  readonly of: Thing["kind"];
  readonly what: string;
  readonly least: number;
  readonly most: number;
  readonly source: string;
  /** The error of AWS, under the SDKs' name. */
  readonly error: string;
  /** Null if the call does not set the value. */
  readonly measure: (thing: never) => number | null;
}

type Measured<Kind extends Thing["kind"]> = Extract<Thing, { readonly kind: Kind }>;

function limit<Kind extends Thing["kind"]>(
  of: Kind,
  what: string,
  [least, most]: readonly [number, number],
  [error, source]: readonly [string, string],
  measure: (thing: Measured<Kind>) => number | null,
): Limit {
  return { of, what, least, most, source, error, measure };
}

const setting = ["InvalidAttributeValue", api("SetQueueAttributes")] as const;
const sns = "docs.aws.amazon.com/sns/latest";
const filtering = ["InvalidParameter", `${sns}/dg/subscription-filter-policy-constraints.html`] as const;
const cloudFormation = "docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html";
const policies = "docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html";
const bytesOf = (text: string): number => Buffer.byteLength(text);

const attribute = (name: string, least: number, most: number): Limit =>
  limit("queue", name, [least, most], setting, ({ attributes }) => {
    const value = attributes[name];
    return value === undefined ? null : Number(value);
  });

/**
 * All limits that one call can break by itself. Limits that depend on other calls, such as the sources of a dead queue,
 * are not here.
 */
export const limits: readonly Limit[] = [
  attribute("VisibilityTimeout", 0, 43_200),
  attribute("MessageRetentionPeriod", 60, 1_209_600),
  attribute("DelaySeconds", 0, 900),
  attribute("MaximumMessageSize", 1_024, 1_048_576),
  attribute("ReceiveMessageWaitTimeSeconds", 0, 20),
  limit("queue", "maxReceiveCount", [1, 1_000], setting, ({ attributes }) =>
    jsonIn(attributes["RedrivePolicy"], ({ maxReceiveCount }) => Number(maxReceiveCount)),
  ),
  limit("queue", "dead-letter queues of the other type", [0, 0], setting, ({ attributes, isFifo }) =>
    jsonIn(attributes["RedrivePolicy"], ({ deadLetterTargetArn: arn }) =>
      typeof arn !== "string" || isFifo === null || arn.endsWith(".fifo") === isFifo ? 0 : 1,
    ),
  ),
  limit("queue", "bytes of a policy", [0, 8_192], ["OverLimit", policies], ({ attributes }) =>
    attributes["Policy"] === undefined ? null : bytesOf(attributes["Policy"]),
  ),
  limit("queue", "statements of a policy", [0, 20], ["OverLimit", policies], ({ attributes }) =>
    jsonIn(attributes["Policy"], ({ Statement }) => (Array.isArray(Statement) ? Statement.length : 1)),
  ),
  limit("subscription", "keys of a filter policy", [0, 5], filtering, ({ attributes }) =>
    jsonIn(attributes["FilterPolicy"], (policy) => Object.keys(policy).length),
  ),
  limit("subscription", "combinations of values of a filter policy", [0, 150], filtering, ({ attributes }) =>
    jsonIn(attributes["FilterPolicy"], (policy) =>
      Object.values(policy).reduce<number>((product, values) => product * (values as readonly unknown[]).length, 1),
    ),
  ),
  limit(
    "publication",
    "bytes of a message",
    [0, 262_144],
    ["InvalidParameter", `${sns}/api/API_Publish.html`],
    ({ bytes }) => bytes,
  ),
  limit("template", "resources", [1, 500], ["ValidationError", cloudFormation], ({ resources }) => resources),
  limit("template", "outputs", [0, 200], ["ValidationError", cloudFormation], ({ outputs }) => outputs),
  limit(
    "template",
    "bytes of a template in a request",
    [1, 51_200],
    ["ValidationError", cloudFormation],
    ({ bytes }) => bytes,
  ),
];

/** The reason that AWS would refuse a call; null if the table has none. */
export function refusalOf(call: Call): { readonly error: string; readonly message: string } | null {
  for (const thing of thingsIn(call)) {
    for (const { of, what, least, most, source, error, measure } of limits) {
      const number = of === thing.kind ? measure(thing as never) : null;
      if (number === null || (number >= least && number <= most)) continue;
      return { error, message: `${what}: ${number}, and ${least} to ${most} are allowed (${source})` };
    }
  }
  return null;
}

/** The resources and messages of a call, including those in a template. */
export function thingsIn({ operation, input }: Call): readonly Thing[] {
  switch (operation) {
    case "CreateQueue":
    case "SetQueueAttributes": {
      const name = String(input["QueueName"] ?? input["QueueUrl"]);
      return [{ kind: "queue", isFifo: name.endsWith(".fifo"), attributes: (input["Attributes"] ?? {}) as Attributes }];
    }
    case "Subscribe":
      return [{ kind: "subscription", attributes: entriesIn(input, "Attributes.entry", "key", "value") }];
    case "Publish": {
      const attributes = entriesIn(input, "MessageAttributes.entry", "Name", "Value.StringValue");
      const texts = [String(input["Message"]), ...Object.entries(attributes).flat()];
      const bytes = texts.reduce((sum, text) => sum + bytesOf(text), 0);
      return [
        { kind: "publication", topic: String(input["TopicArn"]), attributes: Object.keys(attributes).length, bytes },
      ];
    }
    case "CreateStack":
      return templateThings(String(input["TemplateBody"]));
    default:
      return [];
  }
}

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Properties }>>;
  readonly Outputs?: object;
}
type Properties = Readonly<Record<string, unknown>>;

/** A reference stands for an unknown text, so it is no text here. */
function templateThings(body: string): readonly Thing[] {
  const { Resources, Outputs = {} } = JSON.parse(body) as Template;
  const resources = Object.values(Resources);
  const counts = { resources: resources.length, outputs: Object.keys(Outputs).length, bytes: bytesOf(body) };
  return [
    { kind: "template", ...counts },
    ...resources.flatMap(({ Type, Properties: properties }): readonly Thing[] => {
      switch (Type) {
        case "AWS::SQS::Queue":
          return [{ kind: "queue", isFifo: properties["FifoQueue"] === true, attributes: texts(properties) }];
        case "AWS::SQS::QueuePolicy":
          return [{ kind: "queue", isFifo: null, attributes: texts({ Policy: properties["PolicyDocument"] }) }];
        case "AWS::SNS::Subscription":
          return [{ kind: "subscription", attributes: texts(properties) }];
        default:
          return [];
      }
    }),
  ];
}

function texts(properties: Properties): Attributes {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      typeof value === "object" ? JSON.stringify(value) : String(value),
    ]),
  );
}

/** A mapping of the older protocol: `<prefix>.1.<key>`, `<prefix>.1.<value>`. */
function entriesIn(input: Call["input"], prefix: string, key: string, value: string): Attributes {
  const names = Object.keys(input).filter((each) => each.startsWith(`${prefix}.`) && each.endsWith(`.${key}`));
  return Object.fromEntries(
    names.map((each) => [String(input[each]), String(input[each.replace(new RegExp(`${key}$`), value)] ?? "")]),
  );
}

function jsonIn(text: string | undefined, measure: (value: Properties) => number): number | null {
  return text === undefined || text === "" ? null : measure(JSON.parse(text) as Properties);
}
