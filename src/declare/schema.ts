import { z } from "zod";

import { names } from "./names-schema.ts";
import { queueArguments } from "./queue-arguments-schema.ts";
import { retry } from "./retry-schema.ts";
import { about, duration, formTexts, headersMatches, limits, name, wholeNumber } from "./schema-parts.ts";

// The descriptions below are the texts of the JSON Schema and of docs/declaration.md. The interfaces in `system.ts` and
// `backoff.ts` repeat them for TypeScript, and a test compares them.

/** JSON reads a larger whole number as another one. A number with a fraction is never larger. */
const headerNumber = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

const headerValue = z.union([z.string(), headerNumber, z.boolean()]);

const headersMatch = z.strictObject({
  match: z.enum(headersMatches).describe("The forms with `-with-x` also compare headers whose names begin with `x-`."),
  headers: z
    .record(name, headerValue)
    .describe('The headers to compare, with the text, number or boolean that each must have. `1` is not `"1"`.'),
});

const statedFilter = z.strictObject({
  filterPolicy: z
    .record(name, z.unknown())
    .describe("The filter policy of the subscription, in the words of SNS. Redeliver passes it on as it is."),
  filterPolicyScope: z
    .enum(["MessageAttributes", "MessageBody"])
    .optional()
    .describe("The part of a message that the policy looks at. The default is its attributes."),
});

const crash = z.strictObject({
  deliveries: about(
    wholeNumber.min(1).max(limits.attempts),
    "The number of deliveries that may end in a crash before the message is dead. From 1 to 1,000.",
    5,
  ),
});

const errors = z.strictObject({
  permanent: about(
    z.array(name).max(limits.permanentErrors),
    "The names of errors that no retry can cure. The first of them ends the message in the dead queue.",
    ["ValidationError"],
  ),
});

const deadLetter = z.strictObject({
  retain: about(
    duration.optional(),
    "The shortest time to keep dead letters. The default is as long as the broker keeps them.",
    "7d",
  ),
  alarmAbove: about(
    wholeNumber.min(0).optional(),
    "Raises an alarm when more dead letters than this wait. The default is no alarm.",
    0,
  ),
  generations: about(
    wholeNumber.min(1).max(limits.attempts).optional(),
    "The most times that one dead letter is sent again. Then it is parked, or stays if there is no parked queue. The default is 3.",
    2,
  ),
  park: about(
    z.boolean().optional(),
    "Makes a queue for letters that nobody should send again by mistake. Its name is that of the work queue and `parked`. The default is not to.",
    true,
  ),
  queue: about(
    name.optional(),
    "The name of the dead queue on the broker. The default is that of the template. RabbitMQ and SQS only.",
    "legacy-failures",
  ),
  queueSettings: about(
    z.enum(["arguments", "policy"]).optional(),
    "The place of the dead queue's settings, like `queueSettings` of the consumer. The default is `arguments`. Consumers that share a dead queue say the same. RabbitMQ only.",
    "policy",
  ),
});

const consumer = z.strictObject({
  from: about(
    z
      .record(
        z.string(),
        z.union([z.literal("all"), z.array(z.string().min(1)), headersMatch, z.array(headersMatch), statedFilter]),
      )
      .optional(),
    'The routing keys taken from each source: a list, or `"all"`. In the list for a topic, `*` stands for one word and `#` for any number of words. Of a headers source it is `"all"`, or the headers to match, such as `{ match: "all", headers: { type: "invoice", version: 2 } }`. A list has several such matches. Of an opaque source on SQS it is `"all"`, or a `filterPolicy` of SNS. Left out, producers send straight to the work queue.',
    { orders: ["order.placed", "order.cancelled"] },
    { orders: "all" },
  ),
  retry: about(retry.optional(), "The attempts on a message, and the delays between them. A work queue needs it.", {
    attempts: 5,
    backoff: { kind: "constant", delay: "30s" },
  }),
  crash: about(
    crash.optional(),
    "The limit on crashes: deliveries that end without a result. The default is the number of attempts.",
    { deliveries: 5 },
  ),
  handlerTimeout: about(
    duration.optional(),
    "The longest time of one handler run. A longer one counts as a transient failure. The default is no limit, but the broker may have one.",
    "30s",
  ),
  errors: about(errors.optional(), "The kinds of errors. By default every error is transient.", {
    permanent: ["ValidationError"],
  }),
  deadLetter: about(
    deadLetter.optional(),
    "The dead queue: the end of messages that no attempt could handle. Left out, its parts have their defaults.",
    {
      retain: "7d",
    },
  ),
  delivery: about(
    z.enum(["work-queue", "every-instance"]).default("work-queue"),
    "`work-queue`: one queue for the consumer, and its instances compete for the messages. `every-instance`: a queue for each instance. Every instance gets every message, and there are no retries.",
    "every-instance",
  ),
  order: about(
    z.enum(["none", "per-key"]).default("none"),
    "`per-key`: a message waits for the earlier ones with the same key, also while they are retried.",
    "per-key",
  ),
  protocol: about(
    z.enum(["amqp-0-9-1", "amqp-1.0"]).default("amqp-0-9-1"),
    "The protocol between the consumer's code and a RabbitMQ broker. Other brokers ignore it.",
    "amqp-1.0",
  ),
  queue: about(
    name.optional(),
    "The name of the work queue on the broker. The default is that of the template.",
    "legacy-invoices",
  ),
  formerly: about(
    name.optional(),
    "The name that the consumer had when it was first deployed. Everything of it on the broker keeps that name, so no message is left behind when you rename it here. The default is the present name.",
    "invoices",
  ),
  queueArguments: about(
    queueArguments.optional(),
    "More arguments of the work queue, by the broker's names in camel case. Nobody can change them once the queue exists. The default is none. RabbitMQ only.",
    { singleActiveConsumer: true },
  ),
  queueSettings: about(
    z.enum(["arguments", "policy"]).optional(),
    "The place of the settings that Redeliver gives the work queue, such as its dead-letter exchange. `arguments` never change, so no policy takes them away. `policy` lets a queue stay that exists without them, but a policy with a priority above 1000 takes them away. The default is `arguments`. RabbitMQ only.",
    "policy",
  ),
});

/** A consumer that may lack its faulty fields. */
export const soundConsumerSchema = consumer.partial();

const source = z.strictObject({
  kind: about(
    z.enum(["topic", "direct", "fanout", "headers", "opaque"]),
    "`topic` matches patterns, `direct` whole routing keys; `fanout` sends everything. `headers` matches headers of the message, on SQS its attributes, and not on Service Bus. `opaque` is an exchange of a plugin of RabbitMQ, with `owner: other`. On SQS it is a topic with filters in SNS's own words. Any message may come.",
    "topic",
  ),
  name: about(
    name.optional(),
    "Its name on the broker. On AWS another owner's topic, rule or bucket has its ARN here. The default is the system's name, a dot and the source's key, on SQS with a hyphen.",
    "events",
  ),
  exchangeType: about(
    name.optional(),
    "The type of an `opaque` exchange, as its plugin names it. Its keys in `from` are those of the bindings, such as the weight in a consistent hash. Only that kind has it, and needs it.",
    "x-consistent-hash",
  ),
  arguments: about(
    z.record(name, headerValue).optional(),
    "The arguments that another owner's exchange must have, by the broker's own names. `consume` and the deployment refuse other values, and `diff` reports them. Arguments that are not named do not count. The default is none. RabbitMQ and `owner: other` only.",
    { "alternate-exchange": "unrouted" },
  ),
  owner: about(
    z.enum(["system", "other"]).optional(),
    "With `other`, somebody else made it under the given `name`, and `kind` is an assumption. Redeliver never creates, changes or deletes it. `consume` refuses to start if it is missing, or on RabbitMQ has another kind; on SQS it cannot see the topic. The default is `system`.",
    "other",
  ),
});

const budget = z.strictObject({
  queues: about(
    wholeNumber.min(1).optional(),
    "The most queues that Redeliver may make for the system. Queues of single instances do not count. The default is no limit.",
    500,
  ),
  resources: about(
    wholeNumber.min(1).optional(),
    "The most resources of all kinds that Redeliver may make for the system. Those of others do not count. The default is no limit.",
    5000,
  ),
});

/** The schema of a system, as written in JSON or YAML. `check.ts` has the rules across fields. */
export const systemSchema = z.strictObject({
  name: about(
    name,
    "The system's name. It begins every resource's name that the declaration does not give itself, unless `formerly` does.",
    "shop",
  ),
  formerly: about(
    name.optional(),
    "The name that the system had when it was first deployed. Everything on the broker keeps the names that come from it, so no message is left behind when you rename the system here. The default is the present name.",
    "store",
  ),
  names: about(names.optional(), "Templates for names on the broker. The defaults begin with the system's name.", {
    queue: "q-{consumer}",
  }),
  sources: about(
    z.record(name, source).default({}),
    "The entities that producers publish to, by their names in this declaration. Each consumer of a source gets its own copy of every message that it asks for. Without them producers send straight to the work queues.",
    { orders: { kind: "topic" } },
  ),
  consumers: about(z.record(name, consumer), "The consumers by their names.", {
    billing: { from: { orders: "all" }, retry: { attempts: 5, backoff: { kind: "constant", delay: "30s" } } },
  }),
  limits: about(
    budget.optional(),
    "The budget of the system on its broker. Redeliver refuses to compile a system that exceeds it. The default is no budget.",
    { queues: 500 },
  ),
  $schema: about(
    z.string().optional(),
    "The JSON Schema of declarations, for editors. In JSON and YAML only. It may be left out.",
    "./node_modules/redeliver/schema.json",
  ),
});

/** A consumer from the schema, with defaults filled in. */
export type ConsumerOutput = z.output<typeof consumer>;
/** The JSON Schema of a declaration, for editors and for teams that do not write TypeScript. */
export function declarationJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(systemSchema, { io: "input", target: "draft-2020-12", override: addForm });
  return {
    ...schema,
    patternProperties: {
      "^x-": { description: "A part of your own, such as an anchor of YAML. Redeliver ignores it." },
    },
    title: "Redeliver system",
    description: "How each consumer of a system retries.",
  };
}

/** An editor that shows the description of a text says how to write it, too. */
function addForm({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const form = formTexts[jsonSchema.pattern ?? ""];
  if (form !== undefined) jsonSchema.description = [jsonSchema.description, form].join(" ").trim();
}
