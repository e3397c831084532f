import fc from "fast-check";

import type { ProgramRun, RegisteredResource } from "./pulumi.ts";

const types = [
  "aws:sqs/queue:Queue",
  "aws:sqs/redrivePolicy:RedrivePolicy",
  "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy",
  "aws:sqs/queuePolicy:QueuePolicy",
  "aws:sns/topic:Topic",
  "aws:sns/topicSubscription:TopicSubscription",
  "aws:lambda/function:Function",
  "aws:lambda/eventSourceMapping:EventSourceMapping",
  "rabbitmq:index/vHost:VHost",
  "rabbitmq:index/exchange:Exchange",
  "rabbitmq:index/queue:Queue",
  "rabbitmq:index/binding:Binding",
  "rabbitmq:index/policy:Policy",
  "rabbitmq:index/operatorPolicy:OperatorPolicy",
  ...["Namespace", "Queue", "Topic", "Subscription", "Rule", "DefaultRule"].map(
    (name) => `azure-native:servicebus:${name}`,
  ),
  "redeliver:index:RetryTopology",
  "redeliver:sqs:RetryTopology",
  "redeliver:servicebus:RetryTopology",
];

/** The names of the properties that the policies read. So only the shape of their values is wrong. */
const keys =
  "name arn url id vhost settings arguments argumentsJson type durable source destination destinationType routingKey policy pattern applyTo priority definition redrivePolicy redriveAllowPolicy queueUrl protocol endpoint topic filterPolicy eventSourceArn functionName functionArn enabled functionResponseTypes filterCriteria deadLetterConfig timeout visibilityTimeoutSeconds messageRetentionSeconds delaySeconds fifoQueue region kmsMasterKeyId sqsManagedSseEnabled namespaceName queueName topicName subscriptionName ruleName sku lockDuration forwardTo maxDeliveryCount requiresSession defaultMessageTimeToLive filterType sqlFilter declaration target owner x-dead-letter-exchange x-message-ttl x-queue-type".split(
    " ",
  );

const arn = "arn:aws:sqs:eu-west-1:123456789012:orders";
const text = fc.oneof(
  fc.constantFrom("", "orders", "/", arn, "queue", "direct", ".*", "(", "PT1M", "P1Y", "[]", "{", "sqs", "__proto__"),
  fc.constantFrom(
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: "5" }),
    JSON.stringify({ Statement: [{ Effect: "Allow", Principal: "*", Action: 7 }] }),
    JSON.stringify([{ "x-dead-letter-exchange": 1 }]),
  ),
  fc.string({ unit: "binary" }).map((each) => each.toWellFormed()),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.constant("Statement"), fc.string()), tie("any"), {
      maxKeys: 4,
    }),
  ),
})).any;

const resource = fc.record({
  type: fc.constantFrom(...types),
  properties: fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 14 }),
  dependsOn: fc.option(fc.tuple(fc.constantFrom(...keys), fc.nat({ max: 7 }))),
});

/** The single questions use the inputs, and the common one the outputs. Here both are the same. */
function runOf(drawn: readonly (typeof resource extends fc.Arbitrary<infer Drawn> ? Drawn : never)[]): ProgramRun {
  const urnOf = (index: number): string => `urn:pulumi:test::shop::${drawn[index]?.type}::r-${index}`;
  const resources = drawn.map(({ type, properties, dependsOn }, index): RegisteredResource => {
    const nothing = { parent: "", provider: "", protect: false, retainOnDelete: false, dependencies: [] };
    const isTold = dependsOn !== null && dependsOn[1] < drawn.length;
    const propertyDependencies = isTold ? { [dependsOn[0]]: [urnOf(dependsOn[1])] } : {};
    const inputs = properties as Readonly<Record<string, unknown>>;
    return { urn: urnOf(index), type, name: `r-${index}`, custom: true, inputs, ...nothing, propertyDependencies };
  });
  const resourceOutputs = new Map(resources.map(({ urn, inputs }) => [urn, inputs]));
  return { resources, resourceOutputs, registeredOutputs: new Map(), outputs: {}, error: undefined, log: [] };
}

/**
 * Resources of every type that the policies read. Their properties have any shape, known and unknown, and they depend
 * on each other.
 */
export const foreignRun: fc.Arbitrary<ProgramRun> = fc.array(resource, { minLength: 1, maxLength: 8 }).map(runOf);
