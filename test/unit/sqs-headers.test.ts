import { expect, test } from "vitest";

import { driftFrom, judgeDrift } from "../../src/migrate/judge-drift.ts";
import { brokers, compileAndProve } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { adoptText, factsOf } from "../support/reported-by-adopt.ts";
import { arnOf, queue, redriveTo, topicArnOf } from "../support/sqs-listing.ts";

// A headers source of SNS filters by attributes of the message.

const target = { broker: "sqs", region: "eu-west-1" } as const;
const provedFrom = (files: unknown) => {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "30s" } };
  const consumers = { billing: { from: { files }, handlerTimeout: "10s", retry } };
  return compileAndProve<"sqs">(checked({ name: "shop", sources: { files: { kind: "headers" } }, consumers }), target);
};
const ofTypes = (...types: readonly string[]): object[] =>
  types.map((type) => ({ match: "all", headers: { type, region: "eu" } }));

test.for([
  ["a header that is no text", [{ match: "all", headers: { version: 2 } }], "2 is not a text"],
  ["one of two headers", [{ match: "any", headers: { type: "a", region: "b" } }], "all combinations"],
  ["different headers", ["type", "region"].map((each) => ({ match: "all", headers: { [each]: "a" } })), "combinations"],
  [
    "three of four combinations, one of them in two forms",
    [
      ...["a", "b"].map((type) => ({ match: "all", headers: { type, region: "eu" } })),
      ...["all", "all-with-x"].map((match) => ({ match, headers: { type: "a", region: "us" } })),
    ],
    "all combinations",
  ],
  ["a text with quotes", { match: "all", headers: { type: 'a"b' } }, "as it stands"],
  ["six headers", { match: "all", headers: { a: "1", b: "1", c: "1", d: "1", e: "1", f: "1" } }, "6 attributes"],
] as const)("SNS has no filter of %s", ([, files, message]) => {
  const refused = provedFrom(files);
  const said = refused.ok ? [] : refused.diagnostics.filter(({ severity }) => severity === "error");
  expect(said.map((each) => [each.code, each.path])).toEqual([["RD216", "consumers.billing.from.files"]]);
  expect(said[0]?.message).toContain(message);
});

test.for([
  ["wider", null, "otherwise", /not declared/],
  ["of one more type", { type: ["order", "invoice", "refund"], region: ["eu"] }, "otherwise", /type=refund/],
  ["narrower", { type: ["order"], region: ["eu"] }, "loss", /no subscription/],
  ["of another attribute", { type: ["order", "invoice"], country: ["eu"] }, "loss", /no subscription/],
] as const)("a comparison with the account judges a filter that is %s", ([, FilterPolicy, effect, note]) => {
  const proved = accepted(provedFrom(ofTypes("order", "invoice")));
  const declared = brokers.sqs.differ.deploymentOf(proved.compiled);
  const subscriptions = (declared.subscriptions as readonly { readonly attributes: object }[]).map((each) => {
    const attributes = { ...each.attributes, FilterPolicy: JSON.stringify(FilterPolicy) };
    return { ...each, filterPolicy: FilterPolicy, attributes };
  });
  const judged = judgeDrift(accepted(driftFrom({ ...declared, subscriptions }, proved)));
  expect(judged.map((each) => each.effect)).toEqual([effect]);
  expect(JSON.stringify(judged)).toMatch(note);
});

test.for([
  [{ "routing-key": [{ "anything-but": ["a"] }] }, {}, "filterPolicy", null],
  // As a key of a topic it would be a pattern.
  [{ "routing-key": ["a.*"] }, {}, { match: "all", headers: { "routing-key": "a.*" } }, null],
  [{ "routing-key": ["a"] }, { FilterPolicyScope: "MessageBody" }, "filterPolicy", null],
  [{ "routing-key": ["a"], type: ["b"] }, {}, { match: "all", headers: { "routing-key": "a", type: "b" } }, null],
  [{ "x-type": ["b"] }, {}, { match: "all-with-x", headers: { "x-type": "b" } }, null],
  [{ type: ["b", 'c"d'] }, {}, "filterPolicy", null],
  [Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, Array(500).fill("x")])), {}, "filterPolicy", null],
  [{ order: { type: ["b"] } }, { FilterPolicyScope: "MessageBody" }, "filterPolicy", null],
  [{ type: [{ prefix: "b" }], amount: [{ numeric: [">", 100] }] }, {}, "filterPolicy", null],
  [{ type: [{ prefix: "b" }], amount: 3 }, {}, "all", /an attribute without a list/],
  [
    { type: ["b", "c"] },
    {},
    [
      { match: "all", headers: { type: "b" } },
      { match: "all", headers: { type: "c" } },
    ],
    null,
  ],
  [{ "routing-key": [{ prefix: "a" }] }, {}, "filterPolicy", null],
  [{ "routing-key": [{ prefix: "a." }] }, {}, ["a.#"], /a\.# also takes a/],
  [{ "routing-key": [{ suffix: ".a" }, "a", "b"] }, {}, ["#.a", "b"], null],
] as const)("the filter %j with %j takes %j", ([filter, more, keys, fact]) => {
  const Attributes = {
    SubscriptionArn: `${topicArnOf("events")}:1`,
    TopicArn: topicArnOf("events"),
    Protocol: "sqs",
    Endpoint: arnOf("orders"),
    RawMessageDelivery: "true",
    FilterPolicy: JSON.stringify(filter),
    ...more,
  };
  const listing = JSON.stringify([queue("orders", redriveTo("orders-dlq")), queue("orders-dlq"), { Attributes }]);
  const adopted = adoptText(listing, "sqs@eu-west-1", "shop", "sqs");
  const scope = "FilterPolicyScope" in more ? { filterPolicyScope: more.FilterPolicyScope } : {};
  const taken = keys === "filterPolicy" ? { filterPolicy: filter, ...scope } : keys;
  expect(adopted.draft.system.consumers).toMatchObject({ orders: { from: { events: taken } } });
  const different = JSON.stringify(adopted).includes('"key":"FilterPolicy');
  expect(different).toBe(fact !== null);
  const wider = factsOf(adopted).filter((each) => each.includes("declared wider"));
  expect(wider).toEqual(fact === null ? [] : [expect.stringMatching(fact)]);
});

test.for([
  [{ type: ["b"] }, { type: [{ prefix: "c" }] }, "opaque", "filterPolicy", "filterPolicy"],
  [{ type: ["b"] }, { "routing-key": [{ suffix: ".a" }, "a"] }, "opaque", "filterPolicy", "filterPolicy"],
  [{ type: [{ prefix: "c" }] }, null, "opaque", "filterPolicy", "all"],
  [{ type: ["b"] }, null, "headers", { match: "all", headers: { type: "b" } }, "all"],
  [{ "routing-key": ["b"] }, null, "topic", ["b"], "all"],
  [null, null, "fanout", "all", "all"],
] as const)("the filters %j and %j of one topic", ([own, other, kind, orders, mail]) => {
  const subscription = (name: string, filter: object | null) => ({
    Attributes: {
      SubscriptionArn: `${topicArnOf("events")}:${name}`,
      TopicArn: topicArnOf("events"),
      Protocol: "sqs",
      Endpoint: arnOf(name),
      RawMessageDelivery: "true",
      ...(filter === null ? {} : { FilterPolicy: JSON.stringify(filter) }),
    },
  });
  const queues = ["orders", "mail"].flatMap((name) => [queue(name, redriveTo(`${name}-dlq`)), queue(`${name}-dlq`)]);
  const listing = [...queues, subscription("orders", own), subscription("mail", other)];
  const adopted = adoptText(JSON.stringify(listing), "sqs@eu-west-1", "shop", "sqs");
  const from = (taken: unknown, filterPolicy: unknown) => ({
    from: { events: taken === "filterPolicy" ? { filterPolicy } : taken },
  });
  expect(adopted.draft.system).toMatchObject({
    sources: { events: { kind } },
    consumers: { orders: from(orders, own), mail: from(mail, other) },
  });
  expect(factsOf(adopted).filter((each) => each.includes("declared wider"))).toEqual([]);
  expect(JSON.stringify(adopted)).not.toContain('"key":"FilterPolicy');
});

test("a picture names the attributes and their texts", () => {
  const { compiled } = accepted(provedFrom(ofTypes("order", "invoice")));
  const labels = brokers.sqs.graphOf(compiled).edges.map(({ label }) => label);
  expect(labels).toContain("type=order|invoice\nregion=eu");
});
