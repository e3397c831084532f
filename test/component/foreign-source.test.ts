import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";

import type { ExchangeResource } from "../../src/brokers/rabbitmq/compile/topology.ts";
import { compareAssumed } from "../../src/brokers/rabbitmq/make/assumed.ts";
import { checkTarget } from "../../src/brokers/index.ts";
import { brokers, compile, type CompiledSystem, plan, type SourceInput, type TargetInput } from "../../src/index.ts";
import { prepare } from "../../src/consume/consume.ts";
import { costsByStrategy } from "../../src/report/costs.ts";
import { accepted, checked } from "../support/examples.ts";
import { foundInProcess } from "../support/policy-in-process.ts";
import { register, resourcesOf, runProgram, topologyOf } from "../support/pulumi.ts";
import { topicArn } from "../support/sqs/assigned-by-aws.ts";
import { registerServicebus } from "../support/servicebus/register.ts";
import { registerSqs } from "../support/sqs/register.ts";

const system = checked({
  name: "shop",
  sources: {
    orders: { kind: "topic", name: "events.orders", owner: "other" },
    own: { kind: "fanout", name: "shop-own" },
  },
  consumers: {
    billing: {
      from: { orders: ["order.placed"], own: "all" },
      retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
    },
  },
});

test.for(["4.3", "4.0", "3.10"])("on %s an exchange of another owner is bound and never made", async (version) => {
  const run = await register(system, version);
  expect(run.error).toBeUndefined();
  const made = resourcesOf(run, "Exchange").map(({ inputs }) => inputs["name"]);
  expect(made).toContain("shop-own");
  expect(made).not.toContain("events.orders");
  const bound = resourcesOf(run, "Binding").map(({ inputs }) => [inputs["source"], inputs["destination"]]);
  expect(bound).toContainEqual(["events.orders", "shop.billing"]);
  expect(bound).toContainEqual(["shop-own", "shop.billing"]);
  expect((await foundInProcess(run)).filter(({ message }) => message.includes("events.orders"))).toEqual([]);
});

const assuming = checked({
  ...system,
  sources: { ...system.sources, orders: { ...system.sources["orders"], arguments: { "alternate-exchange": "rest" } } },
});

const shownAs = (type: string, given?: object): object => {
  return { id: "events.orders@a vhost", settings: [{ type, durable: true, ...(given && { arguments: given }) }] };
};

test.for([
  ["the declared argument, and others", shownAs("topic", { "alternate-exchange": "rest", other: "1" }), [], 0],
  [
    "another value",
    shownAs("topic", { "alternate-exchange": "x" }),
    ['alternate-exchange: compiled is "rest", deployed is "x"'],
    0,
  ],
  ["no arguments", shownAs("topic"), ['alternate-exchange: compiled is "rest", deployed is nothing'], 0],
  [
    "another kind, too",
    shownAs("fanout", {}),
    ['type: compiled is "topic", deployed is "fanout"', 'alternate-exchange: compiled is "rest", deployed is nothing'],
    0,
  ],
  // The provider shows no settings if an argument is no text.
  ["arguments that it does not show", { id: "events.orders@a vhost" }, [], 1],
  ["nothing, as under mocks", {}, [], 0],
] as const)("a deployment looks at the exchange of another owner, and finds %s", async ([, shown, notes, warned]) => {
  const [exchange] = topologyOf(assuming, "4.3").exchanges as [ExchangeResource];
  let text = "";
  const { log } = await runProgram(
    async () => {
      const parent = new pulumi.ComponentResource("test:index:Test", "shop");
      await compareAssumed({ name: "shop", parent }, exchange, "a vhost").catch(
        (thrown: Error) => (text = thrown.message),
      );
    },
    { shown: shown as Readonly<Record<string, unknown>> },
  );
  for (const note of notes) expect(text).toContain(note);
  expect(text.match(/compiled is/g) ?? []).toHaveLength(notes.length);
  const warnings = log.filter((line) => line.includes("of the exchange events.orders are not compared"));
  expect(warnings).toHaveLength(warned);
});

test("it is in no file for deployment, and costs nothing", () => {
  const target = { broker: "rabbitmq", version: "4.3", patch: null, strategy: "auto" } as const;
  const compiled = accepted(compile(system, target));
  const exchanges = [{ name: "shop-own" }, { name: "shop.dead" }].map(
    (each) => expect.objectContaining(each) as unknown,
  );
  expect(brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/")).toMatchObject({ exchanges });
  const [costs] = costsByStrategy(plan(system), target);
  expect(costs?.resources?.["exchanges"]).toBe(exchanges.length);
});

test.for([
  ["shop.again.3", "other", /names of exchanges that start with shop\.again\. are reserved/],
  ["amq.topic", "system", /names that start with amq\. are the broker's own/],
  ["events/orders", "other", /has a \/ in it/],
  ["shop.dead", "other", /"shop\.dead" would be the shared source exchange and the shared dead exchange/],
  ["shop-own", "other", /"shop-own" would be the source orders and the source own/],
] as const)("the name %s of %s is refused", ([name, owner, message]) => {
  const other = checked({ ...system, sources: { ...system.sources, orders: { kind: "topic", name, owner } } });
  const compiled = compile(other, { broker: "rabbitmq", version: "4.3" });
  expect(compiled.ok ? [] : compiled.diagnostics.map((each) => each.message)).toEqual([expect.stringMatching(message)]);
});

test.for([
  ["shop-own", "sources.own.name", /^declare one source for the exchange/],
  ["events/orders", "sources.orders.name", /^bind an exchange with a plain name to it/],
  ["4711", "sources.orders.name", /^bind an exchange with a plain name to it/],
] as const)("the fix for %s is one that the user can make", ([name, path, help]) => {
  const sources = { ...system.sources, orders: { kind: "topic", name, owner: "other" } };
  const compiled = compile(checked({ ...system, sources }), { broker: "rabbitmq", version: "4.3" });
  const found = compiled.ok ? [] : compiled.diagnostics.map((each) => [each.path, each.help]);
  expect(found).toEqual([[path, expect.stringMatching(help)]]);
});

test("the broker's own exchange may be a source of another owner", () => {
  const other = checked({
    ...system,
    sources: { ...system.sources, orders: { kind: "topic", name: "amq.topic", owner: "other" } },
  });
  expect(compile(other, { broker: "rabbitmq", version: "4.3" }).ok).toBe(true);
});

test("two policies of one name are refused, because RabbitMQ would keep only one", () => {
  const { billing } = system.consumers;
  const other = checked({ ...system, consumers: { billing, "billing.failed": billing } });
  const compiled = compile(other, { broker: "rabbitmq", version: "4.3", strategy: "staged" });
  expect(compiled.ok ? [] : compiled.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'RD205 "shop.billing.failed" would be the policy of the exchange shop.billing.failed and the policy of the queue shop.billing.failed',
  ]);
});

test("a starting consumer looks only at its own sources", () => {
  const { billing } = system.consumers;
  const more = checked({ ...system, consumers: { billing, audit: { ...billing, from: { own: "all" } } } });
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  const prepared = accepted(prepare(more, "audit", { target, connection: { url: "amqp://localhost" } }));
  const { exchanges } = prepared.compiled.topology as { readonly exchanges: readonly { readonly name: string }[] };
  expect(exchanges.map(({ name }) => name)).toEqual(["shop-own", "shop.dead"]);
});

test("leftovers are the bindings of an exchange of another owner, and never the exchange", () => {
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  const { billing } = system.consumers;
  const compiledOf = (input: object): CompiledSystem<"rabbitmq"> => {
    return accepted(compile(checked(input), target));
  };
  const before = compiledOf({
    ...system,
    consumers: { billing: { ...billing, from: { orders: ["order.placed", "order.late"], own: "all" } }, mail: billing },
  });
  const after = compiledOf({ ...system, consumers: { billing } });
  const file = brokers.rabbitmq.exportFormats["definitions"]?.(before, "/") as {
    readonly exchanges: readonly object[];
  };
  const theirs = { name: "events.orders", vhost: "/", type: "topic", durable: true, auto_delete: false, arguments: {} };
  const read = accepted(
    brokers.rabbitmq.auditor.file.read(JSON.stringify({ ...file, exchanges: [...file.exchanges, theirs] })),
  );
  const left = (compiled: CompiledSystem<"rabbitmq">): readonly string[] =>
    brokers.rabbitmq.auditor.leftoversIn(read, compiled).map(({ kind, name }) => `${kind} ${name}`);
  expect(left(before)).toEqual([]);
  expect(left(after)).toEqual([
    "binding events.orders to shop.mail with the key order.placed",
    "binding shop-own to shop.mail with the key #",
    "queue shop.mail",
    "queue shop.mail.dead",
    "binding events.orders to shop.billing with the key order.late",
  ]);
  // Without the source, too, the way into a queue that is left comes first.
  const { own } = system.sources;
  const without = compiledOf({
    ...system,
    sources: { own },
    consumers: { billing: { ...billing, from: { own: "all" } } },
  });
  expect(left(without).slice(0, 2)).toContain("binding events.orders to shop.mail with the key order.placed");
});

const errorsOn = (
  target: TargetInput,
  orders: SourceInput,
  more: object = {},
  names: object = {},
): readonly string[] => {
  const billing = { ...system.consumers["billing"], handlerTimeout: "10s", ...more };
  const compiled = compile(
    checked({ ...system, names, sources: { ...system.sources, orders }, consumers: { billing } }),
    target,
  );
  const found = compiled.ok ? [] : compiled.diagnostics.filter(({ severity }) => severity === "error");
  return found.map(({ code, path }) => `${code} ${path}`);
};

test("a topic of another owner in the namespace gets a subscription, and is never made", async () => {
  const target = { broker: "servicebus", sku: "standard" } as const;
  const deadLetter = { alarmAbove: 0 };
  const other = checked({ ...system, consumers: { billing: { ...system.consumers["billing"], deadLetter } } });
  const run = await registerServicebus(other, target);
  const inputsOf = (type: string, ...names: string[]): readonly unknown[] =>
    resourcesOf(run, type).map(({ inputs }) => names.map((name) => inputs[name]));
  expect(inputsOf("Topic", "topicName")).toEqual([["shop-own"]]);
  // Another system may have a consumer of the same name.
  const subscriptions = new Map(inputsOf("Subscription", "topicName", "subscriptionName") as [string, string][]);
  expect(Object.fromEntries(subscriptions)).toEqual({ "events.orders": "shop.billing", "shop-own": "billing" });
  expect(inputsOf("MetricAlert", "ruleName").flat()).toContain("shop.events.orders.DeadletteredMessages.above.0");
  expect(JSON.stringify(inputsOf("MetricAlert", "criteria"))).toContain('"values":["events.orders"]');
  const compiled = accepted(compile<"servicebus">(other, target));
  const { compare, deploymentOf } = brokers.servicebus.differ;
  const checkedTarget = accepted(checkTarget(target));
  const found = accepted(compare(deploymentOf(compiled), compiled, checkedTarget));
  expect(found.differences).toEqual([]);
  const [costs] = costsByStrategy(plan(other), checkedTarget);
  expect(costs?.resources?.["topics"]).toBe(1);
  const arnOf = "arn:aws:sns:eu-west-1:123456789012:events";
  const sources = { ...system.sources, orders: { kind: "topic", name: arnOf, owner: "other" } } as const;
  const odd = compile(checked({ ...other, sources }), target);
  const errors = odd.ok ? [] : odd.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors).toMatchObject([
    { code: "RD204", path: "sources.orders.name", help: "write the name of a topic in the namespace" },
  ]);
});

test.for([
  ["no name", {}, {}, ["RD222 sources.orders.name"]],
  ["a template with the system's name", {}, { source: "{system}-{source}" }, ["RD222 sources.orders.name"]],
  ["a template without it", {}, { source: "{source}" }, []],
  ["a name", { name: "events" }, {}, []],
] as const)("RabbitMQ and Service Bus, and a source of another owner with %s", ([, own, names, refused]) => {
  const orders = { kind: "topic", owner: "other", ...own } as const;
  for (const target of [
    { broker: "rabbitmq", version: "4.3" },
    { broker: "servicebus", sku: "standard" },
  ] as const)
    expect(errorsOn(target, orders, {}, names)).toEqual(refused);
});

const region = "eu-west-1";
const sqs = { broker: "sqs", region } as const;
/** In another account and region. */
const arn = "arn:aws:sns:us-east-1:123456789012:events";

test.for([
  ["no name", undefined, {}, ["RD222 sources.orders.name"]],
  ["a name that is no ARN", "events", {}, ["RD222 sources.orders.name"]],
  ["the ARN of a queue", arn.replace("sns", "sqs"), {}, ["RD222 sources.orders.name"]],
  ["a standard topic for a consumer in order", arn, { order: "per-key" }, ["RD222 consumers.billing.order"]],
  ["a FIFO topic for a consumer in order", `${arn}.fifo`, { order: "per-key" }, []],
  ["a FIFO topic", `${arn}.fifo`, {}, []],
] as const)("SQS and %s", ([, name, more, refused]) => {
  expect(errorsOn(sqs, { kind: "topic", owner: "other", ...(name && { name }) }, more)).toEqual(refused);
});

test("a topic of another owner is subscribed in its region, and never made", async () => {
  const { billing } = system.consumers;
  const sources = { ...system.sources, orders: { kind: "topic", name: arn, owner: "other" } };
  const other = checked({ ...system, sources, consumers: { billing: { ...billing, handlerTimeout: "10s" } } });
  const run = await registerSqs(other, sqs);
  expect(resourcesOf(run, "Topic").map(({ inputs }) => inputs["name"])).toEqual(["shop-own"]);
  const subscribed = resourcesOf(run, "TopicSubscription").map(({ inputs }) => [inputs["topic"], inputs["region"]]);
  const own = topicArn(region, "shop-own");
  expect(Object.fromEntries(subscribed as [string, unknown][])).toEqual({ [arn]: "us-east-1", [own]: region });
  const policies = resourcesOf(run, "QueuePolicy").map(({ inputs }) => String(inputs["policy"]));
  expect(policies.filter((policy) => policy.includes(arn))).toHaveLength(2);

  const compiled = accepted(compile<"sqs">(other, sqs));
  const template = brokers.sqs.exportFormats["aws-json"]?.(compiled, "");
  expect(template).toMatchObject({
    Resources: {
      Topic1: { Properties: { TopicName: "shop-own" } },
      Subscription1: { Properties: { TopicArn: arn, Region: "us-east-1" } },
      Subscription2: { Properties: { TopicArn: { Ref: "Topic1" } } },
    },
  });
  expect(template).not.toHaveProperty("Resources.Topic2");
  const { compare, deploymentOf } = brokers.sqs.differ;
  expect(accepted(compare(deploymentOf(compiled), compiled, accepted(checkTarget(sqs)))).differences).toEqual([]);
  const [costs] = costsByStrategy(plan(other), { ...sqs, strategy: "auto" });
  expect(costs?.resources?.["topics"]).toBe(1);
});
