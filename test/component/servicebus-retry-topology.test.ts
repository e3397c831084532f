import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { readStackConfig, ServicebusRetryTopology } from "../../src/brokers/servicebus/make/index.ts";
import type { System, TargetInput } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { type ProgramRun, type RegisteredResource, resourcesOf, runProgram, stackProgram } from "../support/pulumi.ts";
import { before, expectInOrder } from "../support/registration-order.ts";
import { compileServicebus, namespaceId, registerServicebus } from "../support/servicebus/register.ts";

const target = { broker: "servicebus", sku: "standard" } as const;
const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const timed = { handlerTimeout: "10s", deadLetter: { alarmAbove: 0 } };
const atOnce = { attempts: 3, backoff: { kind: "immediate" } };
const constant = { attempts: 3, backoff: { kind: "constant", delay: "30s" } };
const systems: readonly (readonly [string, System, TargetInput<"servicebus">])[] = [
  ["queues behind topics", portable, target],
  ["sessions", checked(oneConsumer({ ...timed, retry: atOnce, order: "per-key" })), target],
  ["one dead queue and duplicate detection", portable, { ...target, deadQueue: "shared", duplicates: "10m" }],
  [
    "tiers",
    checked(oneConsumer({ ...timed, retry: constant })),
    { ...target, strategy: "ttl-tier", deadQueue: "shared" },
  ],
];

const isoMs: Readonly<Record<string, number | null>> = {
  "P10675199DT2H48M5.4775807S": null,
  PT30S: 30_000,
  PT1M: 60_000,
  PT10M: 600_000,
};
const place = { resourceGroupName: "shop", namespaceName: "shop-test" };

describe.each(systems)("%s", (_, system, to) => {
  test("the component registers every entity of the topology once, with every property, and nothing else", async () => {
    const run = await registerServicebus(system, to);
    const { topology } = compileServicebus(system, to);
    const entity = ({ inputs }: RegisteredResource): object => ({
      lockDurationMs: isoMs[String(inputs["lockDuration"])],
      maxDeliveryCount: inputs["maxDeliveryCount"],
      timeToLiveMs: isoMs[String(inputs["defaultMessageTimeToLive"])],
      deadLetterOnExpiration: inputs["deadLetteringOnMessageExpiration"],
      requiresSession: inputs["requiresSession"],
      forwardTo: inputs["forwardTo"] ?? null,
      forwardDeadLetteredTo: inputs["forwardDeadLetteredMessagesTo"] ?? null,
    });
    const queues = resourcesOf(run, "Queue");
    expect(new Set(queues.map(({ inputs }) => inputs["queueName"])).size).toBe(queues.length);
    expect(queues).toHaveLength(topology.queues.length);
    for (const { kind: __, name, role, consumer: ___, duplicateDetectionMs, ...rest } of topology.queues) {
      const queue = queues.find(({ inputs }) => inputs["queueName"] === name) as RegisteredResource;
      expect({ ...entity(queue), role }).toEqual({ ...rest, role });
      expect(queue.inputs).toMatchObject({
        ...place,
        requiresDuplicateDetection: duplicateDetectionMs !== null,
        duplicateDetectionHistoryTimeWindow: "PT10M",
        autoDeleteOnIdle: "P10675199DT2H48M5.4775807S",
        enablePartitioning: false,
        status: "Active",
      });
      expect([queue.protect, queue.retainOnDelete]).toEqual([true, true]);
    }
    const subscriptions = resourcesOf(run, "Subscription");
    expect(subscriptions).toHaveLength(topology.subscriptions.length);
    for (const {
      kind: __,
      topic,
      name,
      consumer: ___,
      rules,
      deadLetterOnFilterError,
      ...rest
    } of topology.subscriptions) {
      const found = subscriptions.find(
        ({ inputs }) => inputs["topicName"] === topic && inputs["subscriptionName"] === name,
      );
      expect(entity(found as RegisteredResource)).toEqual(rest);
      expect(found?.inputs).toMatchObject({
        ...place,
        deadLetteringOnFilterEvaluationExceptions: deadLetterOnFilterError,
        isClientAffine: false,
      });
      const own = [...resourcesOf(run, "Rule"), ...resourcesOf(run, "DefaultRule")].filter(
        ({ inputs }) => inputs["topicName"] === topic && inputs["subscriptionName"] === name,
      );
      expect(own.map(({ inputs }) => inputs["ruleName"] ?? "$Default").toSorted()).toEqual(
        rules.map((rule) => rule.name).toSorted(),
      );
    }
    expect(resourcesOf(run, "Topic").map(({ inputs }) => inputs["topicName"])).toEqual(
      topology.topics.map(({ name }) => name),
    );
    expect(
      resourcesOf(run, "MetricAlert")
        .map(({ inputs }) => inputs["ruleName"])
        .toSorted(),
    ).toEqual(topology.alerts.map(({ name }) => name).toSorted());
    const counts = [topology.queues, topology.topics, topology.subscriptions, topology.alerts].map(
      ({ length }) => length,
    );
    const rules = topology.subscriptions.reduce((sum, each) => sum + each.rules.length, 0);
    expect(run.resources.filter(({ custom }) => custom)).toHaveLength(counts.reduce((sum, each) => sum + each, rules));
  });

  test("a forwarding destination comes before its source, and a subscription after its consumer's whole way out", async () => {
    const run = await registerServicebus(system, to);
    const { topology } = compileServicebus(system, to);
    const urnOf = (name: unknown): string =>
      resourcesOf(run, "Queue").find(({ inputs }) => inputs["queueName"] === name)?.urn ?? "";
    for (const resource of [...resourcesOf(run, "Queue"), ...resourcesOf(run, "Subscription")]) {
      for (const key of ["forwardTo", "forwardDeadLetteredMessagesTo"]) {
        const name = resource.inputs[key];
        if (name === undefined) continue;
        expect(resource.propertyDependencies[key]).toEqual([urnOf(name)]);
      }
    }
    for (const resource of resourcesOf(run, "Subscription")) {
      const { consumer } =
        topology.subscriptions.find(({ name }) => name === resource.inputs["subscriptionName"]) ?? {};
      const wanted = topology.queues.filter((queue) => queue.consumer === consumer || queue.consumer === null);
      expect([...before(run, resource)]).toEqual(expect.arrayContaining(wanted.map(({ name }) => urnOf(name))));
      expect(resource.retainOnDelete).toBe(true);
    }
    expectInOrder(run);
  });

  test("a preview registers the same resources, and the outputs name the entities that consumers receive from", async () => {
    const run = await registerServicebus(system, to);
    const preview = await registerServicebus(system, to, true);
    expect(preview.resources.map(({ urn }) => urn)).toEqual(run.resources.map(({ urn }) => urn));
    const { contracts, topology } = compileServicebus(system, to);
    expect(run.outputs).toEqual({
      contracts,
      workQueues: Object.fromEntries(contracts.map(({ consumer, workQueue }) => [consumer, workQueue])),
      topics: Object.fromEntries(topology.topics.map(({ source, name }) => [source, name])),
    });
  });
});

test("each registered rule is the compiled filter, and $Default admits nothing beside it", async () => {
  const run = await registerServicebus(portable, target);
  const rules = Object.fromEntries(resourcesOf(run, "Rule").map(({ name, inputs }) => [name, inputs]));
  expect(rules["shop-shop.orders/billing/order.placed"]).toMatchObject({
    filterType: "CorrelationFilter",
    correlationFilter: { label: "order.placed" },
  });
  expect(rules["shop-shop.payments/shipping/payment.any-words"]).toMatchObject({
    filterType: "SqlFilter",
    sqlFilter: { sqlExpression: "sys.Label = 'payment' OR sys.Label LIKE 'payment.%'" },
  });
  for (const { inputs } of resourcesOf(run, "DefaultRule")) {
    expect(inputs).toMatchObject({ filterType: "SqlFilter", sqlFilter: { sqlExpression: "1=0" } });
  }
});

test("an alert watches one entity of the namespace and notifies the action groups", async () => {
  const run = await registerServicebus(portable, target);
  const name = "shop.billing.DeadletteredMessages.above.0";
  const alert = resourcesOf(run, "MetricAlert").find(({ inputs }) => inputs["ruleName"] === name);
  expect(alert?.inputs).toMatchObject({
    scopes: [namespaceId],
    windowSize: "PT5M",
    criteria: {
      allOf: [
        {
          metricName: "DeadletteredMessages",
          operator: "GreaterThan",
          threshold: 0,
          dimensions: [{ name: "EntityName", operator: "Include", values: ["shop.billing"] }],
        },
      ],
    },
    actions: [{ actionGroupId: expect.stringContaining("on-call") }],
  });
});

test("a refused declaration registers no resource", async () => {
  const run = await runProgram(() => {
    void new ServicebusRetryTopology("shop", { system: portable, target: { ...target, sku: "basic" }, namespaceId });
  });
  expect(pulumi.RunError.isInstance(run.error)).toBe(true);
  expect(run.error?.message).toContain("RD704");
  expect(run.resources.filter(({ custom }) => custom)).toEqual([]);
});

test("the component refuses an id that is not a namespace's", async () => {
  const run = await runProgram(() => {
    void new ServicebusRetryTopology("shop", { system: portable, target, namespaceId: "shop-eu" });
  });
  expect(String(run.error?.message ?? run.log.join("\n"))).toContain('"shop-eu" is not a resource id');
});

test("the component loads only the parts of the provider that it needs", () => {
  const script = `
    const before = process.memoryUsage().heapUsed;
    await import("./src/brokers/servicebus/make/index.ts");
    const { createRequire } = await import("node:module");
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("azure-native"));
    console.log(JSON.stringify(loaded.map((file) => file.split("azure-native/").at(-1))));
  `;
  const out = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  const loaded = JSON.parse(out) as readonly string[];
  expect(loaded).toContain("servicebus/queue.js");
  expect(loaded).not.toContain("index.js");
  expect(loaded.length).toBeLessThan(20);
});

test("the stack takes a namespace by its resource id, and refuses any other value", async () => {
  const read = async (changed: object): Promise<ProgramRun> =>
    runProgram(() => ({ read: readStackConfig(new pulumi.Config(), ["servicebus"]) }), {
      config: { "redeliver:target": target, "redeliver:namespaceId": namespaceId, ...changed },
    });
  expect((await read({})).outputs?.["read"]).toEqual({ broker: "servicebus", target, namespaceId });
  expect((await read({ "redeliver:namespaceId": "shop-eu" })).error?.message).toContain("not a resource id");
  expect((await read({ "redeliver:target": { ...target, lock: "P5M" } })).error?.message).toContain("target.lock");
  expect((await read({ "redeliver:target": { ...target, sku: "gold" } })).error?.message).toContain("target.sku");
});

test("the stack's program deploys the example", async () => {
  const { config } = parse(
    readFileSync(new URL("../../stacks/Pulumi.dev-servicebus.yaml", import.meta.url), "utf8"),
  ) as { config: Record<string, unknown> };
  const run = await runProgram(stackProgram, { stack: "dev-servicebus", config });
  expect(run.error).toBeUndefined();
  expect(run.outputs).toMatchObject({
    deployedTo: "servicebus@standard",
    workQueues: { billing: "shop.billing", shipping: "shop.shipping" },
  });
});
