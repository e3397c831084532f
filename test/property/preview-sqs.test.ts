import fc from "fast-check";
import { expect, test } from "vitest";

import { unknownText } from "../../src/foreign/pulumi-resource.ts";
import type { StackResource } from "../../src/policy/stack.ts";
import { foundIn } from "../support/found-in-stack.ts";

// Random stacks of SQS, SNS and Lambda, some with new resources. A preview knows neither the values that AWS will
// assign to these nor values made of them. At the update, region, account and receive count may be any.

interface Queue {
  readonly isNew: boolean;
  readonly fifo: boolean;
  readonly visibilityTimeoutSeconds: number;
  readonly messageRetentionSeconds: number;
  readonly delaySeconds: number;
  /** The number of the dead-letter queue. Null for none. */
  readonly dead: number | null;
  readonly isApart: boolean;
  readonly maxReceiveCount: number;
  readonly policy: "none" | "anybody" | "topics here";
  /** The only queue that may name this one. Null for all. */
  readonly allows: number | null;
  readonly isUnsure: boolean;
}

interface Subscription {
  readonly topic: number;
  readonly queue: number;
  readonly dead: number | null;
}

interface Mapping {
  readonly queue: number;
  readonly timeout: number;
  readonly batchSize: number;
}

interface Stack {
  readonly queues: readonly Queue[];
  readonly areTopicsNew: boolean;
  readonly subscriptions: readonly Subscription[];
  readonly mappings: readonly Mapping[];
}

const most = 5;
const number = fc.nat({ max: most - 1 });
const numberOrNone = fc.option(number);
const queue: fc.Arbitrary<Queue> = fc.record({
  isNew: fc.boolean(),
  fifo: fc.nat({ max: 5 }).map((drawn) => drawn === 0),
  visibilityTimeoutSeconds: fc.constantFrom(0, 30, 3_600),
  messageRetentionSeconds: fc.constantFrom(60, 345_600, 1_209_600),
  delaySeconds: fc.constantFrom(0, 900),
  dead: numberOrNone,
  isApart: fc.nat({ max: 3 }).map((drawn) => drawn === 0),
  maxReceiveCount: fc.constantFrom(1, 2, 5, 1_000),
  policy: fc.constantFrom("none", "anybody", "topics here"),
  allows: fc.option(number, { freq: 2 }),
  isUnsure: fc.nat({ max: 9 }).map((drawn) => drawn === 0),
});
const stackOf: fc.Arbitrary<Stack> = fc.record({
  queues: fc.array(queue, { minLength: 1, maxLength: most }),
  areTopicsNew: fc.boolean(),
  subscriptions: fc.array(fc.record({ topic: fc.nat({ max: 1 }), queue: number, dead: numberOrNone }), {
    maxLength: 3,
  }),
  mappings: fc.array(
    fc.record({ queue: number, timeout: fc.constantFrom(3, 60, 900), batchSize: fc.constantFrom(1, 10) }),
    { maxLength: 2 },
  ),
});

/** The values that are known only at the update. */
interface Update {
  readonly region: string;
  readonly account: string;
  readonly maxReceiveCount: number;
  readonly visibilityTimeoutSeconds: number;
}

const update: fc.Arbitrary<Update> = fc.record({
  region: fc.constantFrom("eu-west-1", "us-east-1"),
  account: fc.constantFrom("123456789012", "210987654321"),
  maxReceiveCount: fc.constantFrom(1, 2, 5, 1_000),
  visibilityTimeoutSeconds: fc.constantFrom(0, 30, 3_600),
});

/** A value, and the resources that the program makes it from. */
interface Made {
  readonly value: unknown;
  readonly of: readonly number[];
}

/** The resources of the stack at the update, or as a preview shows them. */
function resourcesOf(stack: Stack, { region, account, ...told }: Update, isPreview: boolean): StackResource[] {
  const { queues, areTopicsNew } = stack;
  // Existing and new resources have one provider, so they share region and account.
  const place = queues.some(({ isNew }) => !isNew) || !areTopicsNew ? "eu-west-1:123456789012" : `${region}:${account}`;
  const nameOf = (index: number): string => `queue-${index}${queues[index]?.fifo === true ? ".fifo" : ""}`;
  const arnOf = (index: number): string => `arn:aws:sqs:${place}:${nameOf(index)}`;
  const urlOf = (index: number): string => `https://sqs.amazonaws.com/${place}/${nameOf(index)}`;
  const topicArn = (index: number): string => `arn:aws:sns:${place}:topic-${index}`;
  const urnOf = (type: string, index: number): string =>
    `urn:pulumi:test::shop::${type}::${type.split(":").at(-1)}-${index}`;
  const types = {
    queue: "aws:sqs/queue:Queue",
    redrive: "aws:sqs/redrivePolicy:RedrivePolicy",
    topic: "aws:sns/topic:Topic",
    subscription: "aws:sns/topicSubscription:TopicSubscription",
    function: "aws:lambda/function:Function",
    mapping: "aws:lambda/eventSourceMapping:EventSourceMapping",
  };
  const present = (index: number | null): index is number => index !== null && index < queues.length;
  const isNewQueue = (index: number): boolean => queues[index]?.isNew === true;
  const ofQueue = (index: number, value: unknown): Made => ({ value, of: [index] });
  const resource = (
    type: string,
    index: number,
    isNew: boolean,
    assigned: object,
    given: Record<string, unknown>,
  ): StackResource => {
    const dependencies: Record<string, string[]> = {};
    const properties: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(given)) {
      const made = each as Made | null;
      const isMade = typeof made === "object" && made !== null && "of" in made;
      dependencies[key] = isMade ? made.of.map((own) => urnOf(types.queue, own)) : [];
      properties[key] = !isMade ? each : isPreview && made.of.some(isNewQueue) ? unknownText : made.value;
    }
    for (const [key, value] of Object.entries(assigned)) {
      if (!(key in given)) properties[key] = isPreview && isNew ? unknownText : value;
    }
    const urn = urnOf(type, index);
    return {
      type,
      urn,
      name: urn.split("::").at(-1) ?? "",
      provider: "urn:pulumi:test::shop::pulumi:providers:aws::aws::id",
      properties,
      propertyDependencies: dependencies,
      isProved: false,
    };
  };
  const redriveTo = (dead: number, count: number): Made => {
    const maxReceiveCount = isNewQueue(dead) ? told.maxReceiveCount : count;
    return ofQueue(dead, JSON.stringify({ deadLetterTargetArn: arnOf(dead), maxReceiveCount }));
  };
  const statement = (extra: object): string =>
    JSON.stringify({ Statement: [{ Effect: "Allow", Action: "sqs:SendMessage", Resource: "*", ...extra }] });
  const policies = {
    none: {},
    anybody: { policy: statement({ Principal: "*" }) },
    "topics here": {
      policy: statement({
        Principal: { Service: "sns.amazonaws.com" },
        Condition: { ArnLike: { "aws:SourceArn": "arn:aws:sns:eu-west-1:123456789012:*" } },
      }),
    },
  };
  const topicsUsed = [0, 1];
  const made = queues.flatMap((each, index) => {
    const { isNew, fifo, dead, isApart, maxReceiveCount, policy, allows, isUnsure, ...numbers } = each;
    const redrive = present(dead) ? { redrivePolicy: redriveTo(dead, maxReceiveCount) } : {};
    const allowed = present(allows)
      ? {
          redriveAllowPolicy: ofQueue(
            allows,
            JSON.stringify({ redrivePermission: "byQueue", sourceQueueArns: [arnOf(allows)] }),
          ),
        }
      : {};
    const unsure = isUnsure
      ? { visibilityTimeoutSeconds: isPreview ? unknownText : told.visibilityTimeoutSeconds }
      : {};
    const given = { name: nameOf(index), fifoQueue: fifo, ...numbers, ...unsure, ...policies[policy], ...allowed };
    const assigned = {
      arn: arnOf(index),
      url: urlOf(index),
      id: urlOf(index),
      policy: undefined,
      redrivePolicy: undefined,
      redriveAllowPolicy: undefined,
    };
    const own = resource(types.queue, index, isNew, assigned, isApart ? given : { ...given, ...redrive });
    return isApart && present(dead)
      ? [own, resource(types.redrive, index, true, {}, { queueUrl: ofQueue(index, urlOf(index)), ...redrive })]
      : [own];
  });
  const topics = topicsUsed.map((index) =>
    resource(types.topic, index, areTopicsNew, { arn: topicArn(index) }, { name: `topic-${index}` }),
  );
  const subscriptions = stack.subscriptions.flatMap(({ topic, queue: to, dead }, index) => {
    if (!present(to)) return [];
    const redrive = present(dead)
      ? { redrivePolicy: ofQueue(dead, JSON.stringify({ deadLetterTargetArn: arnOf(dead) })) }
      : {};
    const own = resource(
      types.subscription,
      index,
      true,
      { arn: `${topicArn(topic)}:1` },
      { protocol: "sqs", endpoint: ofQueue(to, arnOf(to)), ...redrive },
    );
    const { properties, propertyDependencies } = own;
    return [
      {
        ...own,
        properties: { ...properties, topic: isPreview && areTopicsNew ? unknownText : topicArn(topic) },
        propertyDependencies: { ...propertyDependencies, topic: [urnOf(types.topic, topic)] },
      },
    ];
  });
  const calls = stack.mappings.flatMap(({ queue: from, timeout, batchSize }, index) =>
    present(from)
      ? [
          resource(
            types.function,
            index,
            true,
            { arn: `arn:aws:lambda:${place}:function:function-${index}` },
            { name: `function-${index}`, timeout },
          ),
          resource(
            types.mapping,
            index,
            true,
            { functionArn: `arn:aws:lambda:${place}:function:function-${index}` },
            { eventSourceArn: ofQueue(from, arnOf(from)), functionName: `function-${index}`, batchSize },
          ),
        ]
      : [],
  );
  return [...made, ...topics, ...subscriptions, ...calls];
}

const standard: Omit<Queue, "messageRetentionSeconds" | "dead"> = {
  isNew: false,
  fifo: false,
  visibilityTimeoutSeconds: 0,
  delaySeconds: 900,
  isApart: true,
  maxReceiveCount: 1,
  policy: "none",
  allows: null,
  isUnsure: false,
};
/**
 * Only the update knows the receive count of the second of these four queues. So only then is it known whether a
 * message moves on or expires there.
 */
const untoldBetween: readonly [Stack, Update] = [
  {
    queues: [
      { ...standard, messageRetentionSeconds: 1_209_600, dead: 3 },
      { ...standard, messageRetentionSeconds: 60, dead: null },
      { ...standard, messageRetentionSeconds: 345_600, dead: 1, isNew: true },
      { ...standard, messageRetentionSeconds: 345_600, dead: 2, visibilityTimeoutSeconds: 3_600, delaySeconds: 0 },
    ],
    areTopicsNew: false,
    subscriptions: [],
    mappings: [],
  },
  { region: "eu-west-1", account: "123456789012", maxReceiveCount: 1_000, visibilityTimeoutSeconds: 0 },
];

test("every finding of a preview is also one of the update, in any region and account and with any receive count", () => {
  let inPart = 0;
  fc.assert(
    fc.property(stackOf, update, (stack, later) => {
      const preview = resourcesOf(stack, later, true);
      const found = foundIn("sqs", preview).map(withoutPlace);
      inPart += found.length > 0 && JSON.stringify(preview).includes(unknownText) ? 1 : 0;
      const atUpdate = foundIn("sqs", resourcesOf(stack, later, false)).map(withoutPlace);
      expect(atUpdate).toEqual(expect.arrayContaining(found));
    }),
    { numRuns: 1_000, examples: [[...untoldBetween]] },
  );
  expect(inPart, "stacks that are judged in part").toBeGreaterThan(200);
});

/** A preview does not know the region. */
function withoutPlace(found: string): string {
  return found.replace(/ regions[.[]\S* /, " ");
}
