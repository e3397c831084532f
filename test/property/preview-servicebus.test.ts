import fc from "fast-check";
import { expect, test } from "vitest";

import { unknownText } from "../../src/foreign/pulumi-resource.ts";
import type { StackResource } from "../../src/policy/stack.ts";
import { plannedProperties } from "../../src/policy/planned-properties.ts";
import { projectedByAzure } from "../support/first-preview.ts";
import { forAll } from "../support/for-all.ts";
import { foundIn } from "../support/found-in-stack.ts";

// Random stacks of Service Bus before their creation. Names are written out or taken from other resources. Some
// settings are known only at the update.

/**
 * A setting of an entity. If it is unsure, a preview does not know it, and the update may bring any value of its kind.
 */
interface Setting {
  readonly value: unknown;
  readonly other: unknown;
  readonly isUnsure: boolean;
}

const setting = (...values: readonly unknown[]): fc.Arbitrary<Setting | null> =>
  fc.option(
    fc.record({
      value: fc.constantFrom(...values),
      other: fc.constantFrom(...values),
      isUnsure: fc.nat({ max: 9 }).map((drawn) => drawn === 0),
    }),
    { freq: 2 },
  );

const settings = fc.record({
  lockDuration: setting("PT1M", "P1M", "PT10M"),
  defaultMessageTimeToLive: setting("PT1H", "P1M"),
  duplicateDetectionHistoryTimeWindow: setting("PT20S", "PT10M"),
  maxDeliveryCount: setting(1, 3, 10),
  deadLetteringOnMessageExpiration: setting(true, false),
  requiresSession: setting(true, false),
  requiresDuplicateDetection: setting(true, false),
});

/**
 * The number of the queue to which an entity forwards. The program writes its name as a text, or takes it from the
 * resource.
 */
const target = fc.option(fc.record({ to: fc.nat({ max: 3 }), isTaken: fc.boolean() }), { freq: 2 });
const entity = fc.record({ settings, forwardTo: target, forwardDeadLetteredMessagesTo: target });
const stackOf = fc.record({
  sku: fc.constantFrom("Basic", "Standard"),
  isNamespaceTaken: fc.boolean(),
  queues: fc.array(entity, { minLength: 1, maxLength: 4 }),
  subscriptions: fc.array(entity, { maxLength: 2 }),
});
type Stack = typeof stackOf extends fc.Arbitrary<infer Drawn> ? Drawn : never;
type Entity = Stack["queues"][number];

/** A value of the program, and the resource that it comes from. */
interface Given {
  readonly value: unknown;
  readonly from?: string;
}

function resourcesOf({ sku, isNamespaceTaken, queues, subscriptions }: Stack, isPreview: boolean): StackResource[] {
  const urnOf = (kind: string, name: string): string =>
    `urn:pulumi:test::shop::azure-native:servicebus:${kind}::${name}`;
  const resource = (kind: string, name: string, given: Readonly<Record<string, Given | null>>): StackResource => {
    const asked = Object.entries(given).filter((each): each is [string, Given] => each[1] !== null);
    // A value from a resource that does not exist yet is unknown, too.
    const inputs = Object.fromEntries(
      asked.map(([key, { value, from }]) => [key, isPreview && from !== undefined ? unknownText : value]),
    );
    const type = `azure-native:servicebus:${kind}`;
    const properties = isPreview ? plannedProperties(type, projectedByAzure(type, inputs), inputs) : inputs;
    const propertyDependencies = Object.fromEntries(
      asked.map(([key, { from }]) => [key, from === undefined ? [] : [from]]),
    );
    return { type, urn: urnOf(kind, name), name, provider: null, properties, propertyDependencies, isProved: false };
  };
  const namespaceName = { value: "shop", ...(isNamespaceTaken ? { from: urnOf("Namespace", "shop") } : {}) };
  const forward = (drawn: Entity["forwardTo"]): Given | null => {
    if (drawn === null || drawn.to >= queues.length) return null;
    const name = `queue-${drawn.to}`;
    return { value: name, ...(drawn.isTaken ? { from: urnOf("Queue", name) } : {}) };
  };
  const settingsOf = (drawn: Entity): Readonly<Record<string, Given | null>> => ({
    ...Object.fromEntries(
      Object.entries(drawn.settings).map(([key, each]) => {
        if (each === null) return [key, null];
        return [key, { value: each.isUnsure ? (isPreview ? unknownText : each.other) : each.value }];
      }),
    ),
    forwardTo: forward(drawn.forwardTo),
    forwardDeadLetteredMessagesTo: forward(drawn.forwardDeadLetteredMessagesTo),
  });
  return [
    resource("Namespace", "shop", { namespaceName: { value: "shop" }, sku: { value: { name: sku } } }),
    resource("Topic", "orders", { namespaceName, topicName: { value: "orders" } }),
    ...queues.map((each, index) =>
      resource("Queue", `queue-${index}`, {
        namespaceName,
        queueName: { value: `queue-${index}` },
        ...settingsOf(each),
      }),
    ),
    ...subscriptions.map((each, index) => {
      const topicName = { value: "orders", from: urnOf("Topic", "orders") };
      const subscriptionName = { value: `subscription-${index}` };
      return resource("Subscription", `s-${index}`, {
        namespaceName,
        topicName,
        subscriptionName,
        ...settingsOf(each),
      });
    }),
  ];
}

const isSure = ({ settings: own }: Entity): boolean => Object.values(own).every((each) => each?.isUnsure !== true);

test("every finding of the first preview is also one of the update, and the reverse if the program knows its settings", () => {
  const seen = { sure: 0, inPart: 0 };
  forAll(1_000, [stackOf], (stack) => {
    const found = foundIn("servicebus", resourcesOf(stack, true));
    const atUpdate = foundIn("servicebus", resourcesOf(stack, false));
    if ([...stack.queues, ...stack.subscriptions].every(isSure)) {
      expect(found).toEqual(atUpdate);
      seen.sure += found.length > 0 ? 1 : 0;
      return;
    }
    expect(atUpdate).toEqual(expect.arrayContaining([...found]));
    seen.inPart += found.length > 0 ? 1 : 0;
  });
  expect(seen.sure, "stacks that are judged as a whole").toBeGreaterThan(50);
  expect(seen.inPart, "stacks that are judged in part").toBeGreaterThan(50);
});
