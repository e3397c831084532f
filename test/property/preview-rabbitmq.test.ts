import fc from "fast-check";
import { expect, test } from "vitest";

import { unknownText } from "../../src/foreign/pulumi-resource.ts";
import type { StackResource } from "../../src/policy/stack.ts";
import { forAll } from "../support/for-all.ts";
import { foundIn } from "../support/found-in-stack.ts";

// Random stacks of RabbitMQ with values that a preview does not know. The update may bring any value of the same kind.

const queues = ["a", "b", "c"];
const exchanges = ["x", "y", "z"];

/** The possible values of each property. Preview and update share them, so an unknown value can become any of these. */
const domains: Readonly<Record<string, readonly unknown[]>> = {
  vhost: ["/", "/", "/", "other"],
  "queue name": queues,
  "exchange name": exchanges,
  "policy name": ["p", "q"],
  type: ["direct", "fanout", "topic", "headers"],
  source: exchanges,
  destination: [...queues, ...exchanges],
  destinationType: ["queue", "queue", "exchange"],
  routingKey: ["a", "b", "a.*", "#"],
  pattern: ["^a", "b$", ".*", "^x"],
  applyTo: ["all", "queues", "exchanges"],
  priority: [0, 1],
  "x-queue-type": ["classic", "quorum"],
  "x-dead-letter-exchange": ["", ...exchanges],
  "x-dead-letter-routing-key": queues,
  "x-message-ttl": [0, 1_000],
  "x-delivery-limit": [-1, 3],
  "x-expires": [500, 60_000],
  "x-max-length": [10],
  "x-overflow": ["reject-publish", "drop-head"],
  "x-dead-letter-strategy": ["at-least-once"],
  "alternate-exchange": exchanges,
  "dead-letter-exchange": ["", ...exchanges],
  "dead-letter-routing-key": queues,
  "message-ttl": [1_000],
  "delivery-limit": [3],
  durable: [true, false],
};

/** A property's value at the update, and whether a preview knows it. */
interface Value {
  readonly isKnown: boolean;
  readonly value: unknown;
  readonly other: unknown;
}

function valueOf(key: string): fc.Arbitrary<Value> {
  const one = fc.constantFrom(...(domains[key] ?? []));
  const isKnown = fc.integer({ min: 0, max: 14 }).map((drawn) => drawn > 0);
  return fc.record({ isKnown, value: one, other: one });
}

type Values = Readonly<Record<string, Value>>;

const some = (keys: readonly string[]): fc.Arbitrary<Values> =>
  fc.record(Object.fromEntries(keys.map((key) => [key, valueOf(key)])), { requiredKeys: [] }) as fc.Arbitrary<Values>;
const all = (keys: readonly string[]): fc.Arbitrary<Values> =>
  fc.record(Object.fromEntries(keys.map((key) => [key, valueOf(key)]))) as fc.Arbitrary<Values>;

interface Drawn {
  readonly kind: "queue" | "exchange" | "binding" | "policy";
  readonly own: Values;
  readonly given: Values;
}

const queue = fc.record({
  kind: fc.constant("queue" as const),
  own: all(["vhost", "queue name", "durable"]),
  given: some(Object.keys(domains).filter((key) => key.startsWith("x-"))),
});
const exchange = fc.record({
  kind: fc.constant("exchange" as const),
  own: all(["vhost", "exchange name", "type"]),
  given: some(["alternate-exchange"]),
});
const binding = fc.record({
  kind: fc.constant("binding" as const),
  own: all(["vhost", "source", "destination", "destinationType", "routingKey"]),
  given: fc.constant({}),
});
const policy = fc.record({
  kind: fc.constant("policy" as const),
  own: all(["vhost", "policy name", "pattern", "applyTo", "priority"]),
  given: some([
    "dead-letter-exchange",
    "dead-letter-routing-key",
    "message-ttl",
    "delivery-limit",
    "alternate-exchange",
  ]),
});

type Choice = (value: Value) => unknown;

function resourceOf({ kind, own, given }: Drawn, index: number, choice: Choice): StackResource {
  const chosen = Object.fromEntries(
    Object.entries(own).map(([key, value]) => [key.split(" ").at(-1) ?? key, choice(value)]),
  );
  const settings = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, choice(value)]));
  const { vhost, name, type, durable, ...rest } = chosen;
  const properties = {
    queue: { name, settings: { durable, arguments: settings } },
    exchange: { name, settings: { type, arguments: settings } },
    binding: rest,
    policy: { name, policy: { ...rest, definition: settings } },
  }[kind];
  const provider = {
    queue: "queue:Queue",
    exchange: "exchange:Exchange",
    binding: "binding:Binding",
    policy: "policy:Policy",
  };
  const typeName = `rabbitmq:index/${provider[kind]}`;
  return {
    type: typeName,
    urn: `urn:pulumi:test::shop::${typeName}::${kind}-${index}`,
    name: `${kind}-${index}`,
    provider: null,
    properties: { vhost, ...properties },
    isProved: false,
  };
}

const stack = fc.array(fc.oneof({ weight: 3, arbitrary: queue }, exchange, { weight: 2, arbitrary: binding }, policy), {
  minLength: 1,
  maxLength: 9,
});

test("every finding of a preview is also a finding of the update, for any unknown values", () => {
  let [seen, inPart] = [0, 0];
  forAll(600, [stack], (drawn) => {
    const resources = (choice: Choice): StackResource[] => drawn.map((each, index) => resourceOf(each, index, choice));
    const preview = resources(({ isKnown, value }) => (isKnown ? value : unknownText));
    const found = foundIn("rabbitmq", preview);
    const hasUnknown = JSON.stringify(preview).includes(unknownText);
    seen += hasUnknown ? 1 : 0;
    inPart += hasUnknown && found.length > 0 ? 1 : 0;
    for (const choice of [
      ({ value }: Value) => value,
      ({ isKnown, value, other }: Value) => (isKnown ? value : other),
    ]) {
      const atUpdate = foundIn("rabbitmq", resources(choice));
      expect(atUpdate).toEqual(expect.arrayContaining([...found]));
    }
  });
  expect(seen).toBeGreaterThan(100);
  expect(inPart, "stacks that are judged in part").toBeGreaterThan(5);
});

/** A queue with arguments, beside one that an exchange leads to. */
function besideDeadQueue(given: Readonly<Record<string, unknown>>): StackResource[] {
  const make = (type: string, name: string, properties: Readonly<Record<string, unknown>>): StackResource => ({
    type: `rabbitmq:index/${type}`,
    urn: `urn:pulumi:test::shop::rabbitmq:index/${type}::${name}`,
    name,
    provider: null,
    properties: { vhost: "/", ...properties },
    isProved: false,
  });
  return [
    make("exchange:Exchange", "x", { name: "x", settings: { type: "fanout" } }),
    make("queue:Queue", "letters", { name: "letters", settings: { durable: true } }),
    make("binding:Binding", "b", { source: "x", destination: "letters", destinationType: "queue" }),
    make("queue:Queue", "orders", { name: "orders", settings: { durable: true, arguments: given } }),
  ];
}

test("an unknown dead-letter exchange may be any exchange, so any queue may be one for dead letters", () => {
  const found = (exchange: string): readonly string[] =>
    foundIn("rabbitmq", besideDeadQueue({ "x-dead-letter-exchange": exchange }));
  expect(found("x").filter((each) => each.endsWith(" letters"))).toEqual([]);
  expect(found("elsewhere")).toContain('RD420 vhosts["/"] letters');
  expect(found(unknownText)).toEqual([]);
});

test("an unknown policy holds back findings about the exchanges of the broker that its pattern matches", () => {
  const policy = (name: string, pattern: string, given: object): StackResource => ({
    type: "rabbitmq:index/policy:Policy",
    urn: `urn:pulumi:test::shop::rabbitmq:index/policy:Policy::${name}`,
    name,
    provider: null,
    properties: { vhost: "/", name, policy: { pattern, applyTo: "all", priority: 0, definition: {}, ...given } },
    isProved: false,
  });
  const known = policy("known", "^amq", { definition: { "alternate-exchange": "gone" } });
  const found = (pattern: string): readonly string[] =>
    foundIn("rabbitmq", [known, policy("other", pattern, { priority: unknownText })]);
  expect(found("^shop")).toContain('RD437 vhosts["/"].exchanges["amq.topic"] gone');
  expect(found("^a")).toEqual([]);
});

test("an unknown time to live holds back findings about its own queue, and about no other", () => {
  expect(foundIn("rabbitmq", besideDeadQueue({ "x-message-ttl": unknownText }))).toEqual(['RD420 vhosts["/"] letters']);
});
