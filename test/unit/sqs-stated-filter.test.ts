import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { driftFrom, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { brokers, checkSystem, compileAndProve, parseTarget } from "../../src/index.ts";
import { originOf } from "../../src/report/sentences.ts";
import { accepted, checked } from "../support/examples.ts";

// A filter of SNS that Redeliver passes on, and does not evaluate.

const filterPolicy = { eventType: [{ prefix: "order." }], amount: [{ numeric: [">", 100] }] };
const events = { kind: "opaque", name: "arn:aws:sns:eu-west-1:123456789012:events", owner: "other" };
const declared = (taken: unknown, source: object = events): object => ({
  name: "shop",
  sources: { events: source },
  consumers: {
    billing: {
      from: { events: taken },
      handlerTimeout: "10s",
      retry: { attempts: 3, backoff: { kind: "constant", delay: "30s" } },
    },
  },
});
const provedFrom = (taken: unknown, on = "sqs@eu-west-1", source?: object) => {
  const target = parseTarget(on);
  if (!target.ok) throw new Error("no target");
  return compileAndProve<"sqs">(checked(declared(taken, source)), target.value as never);
};

test.each([events, { kind: "opaque" }])("the subscription to %j has the filter as it is, on both scopes", (source) => {
  for (const scope of [undefined, "MessageAttributes", "MessageBody"] as const) {
    const stated = { filterPolicy, ...(scope === undefined ? {} : { filterPolicyScope: scope }) };
    const { compiled, plan } = accepted(provedFrom(stated, "sqs@eu-west-1", source));
    const subscription = brokers.sqs.differ.deploymentOf(compiled).subscriptions as readonly object[];
    expect(subscription).toMatchObject([
      { filterPolicy, attributes: { FilterPolicyScope: scope ?? "MessageAttributes" } },
    ]);
    expect(compiled.contracts[0]?.sources).toMatchObject([stated]);
    const labels = brokers.sqs.graphOf(compiled).edges.map(({ label }) => label);
    expect(labels).toContain("filter by eventType, amount");
    const end = scope === "MessageBody" ? " on the body)" : ")";
    expect(plan.consumers.map(originOf)).toEqual([`events (the filter ${JSON.stringify(filterPolicy)}${end}`]);
  }
});

type Attributes = Readonly<Record<string, unknown>>;

/** The judgements on an account whose subscription has other attributes than the compiled one. */
function judgedWith(taken: unknown, change: Attributes): readonly string[] {
  const proved = accepted(provedFrom(taken));
  const written = brokers.sqs.differ.deploymentOf(proved.compiled);
  const subscriptions = (written.subscriptions as readonly { readonly attributes: object }[]).map((each) => {
    const attributes = Object.entries({ ...each.attributes, ...change }).filter(([, value]) => value !== undefined);
    const filter = Object.fromEntries(attributes)["FilterPolicy"];
    const filterPolicy: unknown = typeof filter === "string" ? JSON.parse(filter) : (filter ?? null);
    const deadLetterArn = "RedrivePolicy" in change ? null : (each as { deadLetterArn?: unknown }).deadLetterArn;
    return { ...each, deadLetterArn, filterPolicy, attributes: Object.fromEntries(attributes) };
  });
  const judged = judgeDrift(accepted(driftFrom({ ...written, subscriptions } as never, proved)));
  return judged.map((each) => `${each.effect}: ${JSON.stringify(each)}`);
}

test.for([
  ["with the same filter", {}, []],
  ["without a filter", { FilterPolicy: undefined, FilterPolicyScope: undefined }, [/^otherwise: .*leaves out/]],
  [
    "with another filter",
    { FilterPolicy: JSON.stringify({ eventType: ["order.placed"] }) },
    [/^loss: .*neither filter/],
  ],
  ["with the filter on the body", { FilterPolicyScope: "MessageBody" }, [/^loss: .*neither filter/]],
  ["without an envelope of its own", { RawMessageDelivery: "false" }, [/^otherwise: .*envelope/]],
] as const)("a subscription %s is judged", ([, change, expected]) => {
  expect(judgedWith({ filterPolicy }, change)).toEqual(expected.map((each) => expect.stringMatching(each)));
});

const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constantFrom({ exists: true }, { prefix: "a" }));
// No part of a declaration has that name (RD111).
const attribute = fc.string({ minLength: 1, maxLength: 9 }).filter((name) => name !== "__proto__");
const policy = fc.dictionary(attribute, fc.array(value, { minLength: 1, maxLength: 4 }), {
  minKeys: 1,
  maxKeys: 5,
});

test("any filter reads back as no difference, and any other one is a loss", () => {
  fc.assert(
    fc.property(policy, policy, (one, other) => {
      const FilterPolicy = JSON.stringify(other);
      const found = judgedWith({ filterPolicy: one }, { FilterPolicy });
      const isSame = isDeepStrictEqual({ ...one }, { ...other });
      expect(judgedWith({ filterPolicy: one }, {})).toEqual([]);
      expect(found).toEqual(isSame ? [] : [expect.stringMatching(/^loss: /)]);
    }),
    { numRuns: 60 },
  );
});

test.for([
  ["a topic", { filterPolicy }, { kind: "topic" }, "", /a source of kind topic has no filterPolicy/],
  ["an exchange of a plugin", { filterPolicy }, { exchangeType: "x-random" }, "", /with an exchangeType has no/],
  ["an empty filter", { filterPolicy: {} }, {}, ".filterPolicy", /each attribute has a list/],
  ["a value without a list", { filterPolicy: { type: "a" } }, {}, ".filterPolicy.type", /each attribute/],
  ["an empty list", { filterPolicy: { type: [] } }, {}, ".filterPolicy.type", /each attribute/],
  ["properties of an attribute", { filterPolicy: { a: { b: ["c"] } } }, {}, ".filterPolicy.a", /each attribute/],
  [
    "an empty property of the body",
    { filterPolicy: { a: { b: {} } }, filterPolicyScope: "MessageBody" },
    {},
    ".filterPolicy.a.b",
    /each property/,
  ],
  ["routing keys", ["order.placed"], {}, "", /is a topic of SNS, and has no routing keys/],
] as const)("%s is refused", ([, taken, source, below, message]) => {
  const result = checkSystem(declared(taken, { ...events, ...source }));
  const errors = result.ok ? [] : result.diagnostics;
  expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual([`RD110 consumers.billing.from.events${below}`]);
  expect(errors[0]?.message).toMatch(message);
  const isNested = JSON.stringify(taken).includes('{"a":{"b":["c"]}}');
  expect(errors[0]?.notes?.join().includes("filterPolicyScope") ?? false).toBe(isNested);
});

test("properties of the body may lie in each other", () => {
  const stated = { filterPolicy: { order: { customer: { type: ["gold"] } } }, filterPolicyScope: "MessageBody" };
  expect(provedFrom(stated).ok).toBe(true);
});

test.for([
  ["RabbitMQ", "rabbitmq@4.3", events, "RD222", "sources.events"],
  ["Service Bus", "servicebus@standard", events, "RD216", "sources.events.kind"],
  ["a rule", "sqs@eu-west-1", { ...events, name: "arn:aws:events:eu-west-1:123456789012:rule/refunds" }, "RD216", ""],
] as const)("%s has no filter of SNS", ([, on, source, code, path]) => {
  const result = provedFrom({ filterPolicy }, on, source);
  const errors = result.ok ? [] : result.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map((each) => `${each.code} ${each.path}`)).toContain(
    `${code} ${path || "consumers.billing.from.events"}`,
  );
});
