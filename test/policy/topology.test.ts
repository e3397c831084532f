import * as aws from "@pulumi/aws/sqs/index.js";
import { Queue as ServicebusQueue } from "@pulumi/azure-native/servicebus/queue.js";
import { Subscription } from "@pulumi/azure-native/servicebus/subscription.js";
import { Topic } from "@pulumi/azure-native/servicebus/topic.js";
import * as rabbitmq from "@pulumi/rabbitmq";
import { describe, expect, test, vi } from "vitest";

import { type DiagnosticCode, diagnosticCodes } from "../../src/diagnostics/catalogue.ts";
import { rules } from "../../src/policy/rules.ts";
import shop from "../../stacks/shop.ts";
import { runExample } from "../support/example-program.ts";
import { policyHost } from "../support/policy-host.ts";
import { type ProgramRun, register, runProgram } from "../support/pulumi.ts";

const topologyRules = rules.filter((rule) => rule.kind === "topology");
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const namespaceId = "/subscriptions/1/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-dev";

const host = policyHost("preset: strict\n");

/** The same run with other outputs of some resources. */
function changed(
  run: ProgramRun,
  change: (outputs: Readonly<Record<string, unknown>>, type: string) => Readonly<Record<string, unknown>>,
): ProgramRun {
  const resourceOutputs = new Map(
    run.resources.map(({ urn, type }) => [urn, change(run.resourceOutputs.get(urn) ?? {}, type)]),
  );
  return { ...run, resourceOutputs };
}

/**
 * The outputs of @pulumi/azure-native 3: the fields of Azure's answer, without those that stood only in the path of the
 * request.
 */
function answeredByAzure(outputs: Readonly<Record<string, unknown>>, type: string): Readonly<Record<string, unknown>> {
  const { namespaceName, resourceGroupName, queueName, topicName, subscriptionName, ruleName, ...answer } = outputs;
  if (namespaceName === undefined) return outputs;
  const rule = type.endsWith(":DefaultRule") ? "$Default" : ruleName;
  const below = { queues: queueName, topics: topicName, subscriptions: subscriptionName, rules: rule };
  const named = Object.entries(below).filter(([, name]) => name !== undefined);
  const name = named.at(-1)?.[1] ?? namespaceName;
  const namespace = `/resourceGroups/${String(resourceGroupName)}/providers/Microsoft.ServiceBus/namespaces/${String(namespaceName)}`;
  return { ...answer, id: [`/subscriptions/1${namespace}`, ...named.flat()].join("/"), name };
}

test("every finding of an audit that is about a topology belongs to one rule of its broker", () => {
  const notOfTopologies: Partial<Record<DiagnosticCode, string>> = {
    RD401: "about the file that is read",
    RD403: "about the version that a file names",
    RD407: "about a running broker",
    RD408: "about a running broker",
    RD410: "about a file with the state of a stack",
    RD417: "about the code of a consumer: no topology mends it",
    RD454: "judged by sqs-encryption, on the queue by itself",
    RD425: "about an upgrade that was asked for",
  };
  const brokersOf: Partial<Record<DiagnosticCode, number>> = { RD411: 2, RD415: 2, RD446: 2 };
  const own = topologyRules.flatMap(({ broker, codes }) => codes.map((code) => `${broker} ${code}`));
  expect(new Set(own).size, "none belongs to two").toBe(own.length);
  const mapped = topologyRules.flatMap(({ codes }) => codes);
  const ofAudits = /^RD(4|7[4-9])/;
  const found = diagnosticCodes.filter((code) => ofAudits.test(code) && !(code in notOfTopologies));
  expect(mapped.filter((code) => ofAudits.test(code)).toSorted()).toEqual(
    found.flatMap((code) => Array.from({ length: brokersOf[code] ?? 1 }, () => code)),
  );
});

describe("the example stacks pass", () => {
  const stacks = [
    ["dev", { target: { broker: "rabbitmq", version: "4.3" }, vhost: "/" }],
    ["prod", { target: { broker: "rabbitmq", version: "4.0" }, vhost: "shop" }],
    ["dev-sqs", { target: { broker: "sqs", region: "eu-west-1" } }],
    ["dev-servicebus", { target: { broker: "servicebus", sku: "standard" }, namespaceId }],
  ] as const;

  test.each(stacks)("%s", async (_, config) => {
    const access =
      config.target.broker === "rabbitmq"
        ? { endpoint: "https://rabbitmq.example.com", username: "deployer", password: "x" }
        : {};
    const values = Object.entries({ ...config, ...access }).map(([key, value]) => [`redeliver:${key}`, value]);
    const run = await runExample("stacks/index.ts", {
      config: Object.fromEntries(values) as Record<string, unknown>,
      secretKeys: ["redeliver:password"],
    });
    expect(run.resources.length).toBeGreaterThan(10);
    expect(await host().analyzeStack(run)).toEqual([]);
  });

  test.each(["4.3", "4.0", "3.13", "3.10"] as const)(
    "Redeliver's own topology for RabbitMQ %s is sound by the rules of that version",
    async (version) => {
      expect(await host().analyzeStack(await register(shop, version))).toEqual([]);
      const shared = await register(shop, version, false, { deadQueue: "shared" });
      expect(await host().analyzeStack(shared)).toEqual([]);
    },
  );
});

/** Makes everything unknown that could name a queue or a subscription. */
function namesUnknownTo(type: string): Readonly<Record<string, unknown>> {
  const isAzure = type.startsWith("azure-native:");
  return { name: unknown, ...(isAzure ? { queueName: unknown, subscriptionName: unknown } : { arn: unknown }) };
}

describe("a preview with unknown values", () => {
  test.each(topologyRules.filter(({ broker }) => broker !== null))(
    "$name reports nothing while a name is unknown, and neither does any other rule",
    async ({ name }) => {
      const run = await runExample(`examples/policies/${name}/fails.ts`, { preview: true });
      const preview = changed(run, (outputs, type) =>
        /:(Queue|Subscription)$/.test(type) ? { ...outputs, ...namesUnknownTo(type) } : outputs,
      );
      expect(await host().analyzeStack(preview)).toEqual([]);
      expect((await host().analyzeStack(run)).map(({ rule }) => rule)).toContain(name);
    },
  );

  test("a component with an unknown value is judged at the update", async () => {
    const { resources } = await runExample("examples/policies/retry-attempts-limit/fails.ts");
    const preview = resources.map((each) =>
      each.type === "redeliver:index:RetryTopology" ? { ...each, inputs: { ...each.inputs, target: unknown } } : each,
    );
    expect(await host().analyze(preview)).toEqual([]);
    expect(await host().analyze(resources)).toHaveLength(1);
  });
});

describe("the answers of Azure", () => {
  test.each(topologyRules.filter(({ broker }) => broker === "servicebus"))(
    "is enough for $name, although names in the path of a request are no outputs",
    async ({ name }) => {
      const run = await runExample(`examples/policies/${name}/fails.ts`);
      const found = await host().analyzeStack(run);
      expect(found).not.toEqual([]);
      expect(await host().analyzeStack(changed(run, answeredByAzure))).toEqual(found);
    },
  );

  test("identify the subscription by its own topic, in its own namespace", async () => {
    const places = ["eu", "us"].flatMap((namespaceName) =>
      ["orders", "payments"].map((topicName) => ({ resourceGroupName: "shop", namespaceName, topicName })),
    );
    const run = await runProgram(() => {
      for (const place of places) {
        const name = `${place.namespaceName}-${place.topicName}`;
        void new Topic(name, place);
        void new Subscription(name, {
          ...place,
          subscriptionName: "billing",
          maxDeliveryCount: name === "eu-payments" ? 1 : 3,
        });
      }
    });
    for (const each of [run, changed(run, answeredByAzure)]) {
      expect(await host().analyzeStack(each)).toMatchObject([
        { rule: "servicebus-delivery-count", urn: expect.stringMatching(/:Subscription::eu-payments$/) },
      ]);
    }
  });
});

describe("resources of an unknown form", () => {
  test.each([
    ["settings that are a list, as in an older provider", { settings: [{ durable: true }] }],
    ["arguments that are no mapping", { settings: { durable: true, arguments: ["x-queue-type"] } }],
    ["a number for a name", { name: 7 }],
    ["nothing at all", { name: null, settings: null }],
  ])("%s: the pack reports that nothing was judged, and does not end", async (_, shape) => {
    const run = await runExample("examples/policies/rabbitmq-dead-letter-exchange/fails.ts");
    const other = changed(run, (outputs, type) => (type.endsWith(":Queue") ? { ...outputs, ...shape } : outputs));
    expect(await host().analyzeStack(other)).toMatchObject([
      {
        rule: "topology-readable",
        level: "advisory",
        message: expect.stringContaining("orders is a rabbitmq:index/queue:Queue in an unknown form"),
        urn: expect.stringMatching(/::orders$/),
      },
    ]);
  });
});

describe("a resource of an unknown form beside an unrelated fault", () => {
  const azure = { resourceGroupName: "shop", namespaceName: "shop" };
  const strange: Readonly<Record<string, readonly [fault: string, make: () => unknown, form: object]>> = {
    rabbitmq: [
      "rabbitmq-dead-letter-exchange",
      () => new rabbitmq.Queue("strange", { name: "strange", vhost: "other", settings: {} }),
      { settings: [{ durable: true }] },
    ],
    sqs: [
      "sqs-dead-letter-queue",
      () => new aws.Queue("strange", { name: "strange" }),
      { visibilityTimeoutSeconds: { seconds: 30 } },
    ],
    servicebus: [
      "servicebus-expired-messages-kept",
      () => new ServicebusQueue("strange", { ...azure, queueName: "strange" }),
      { maxDeliveryCount: "10" },
    ],
  };

  test.each(Object.entries(strange))("%s: the pack reports both", async (_, [rule, make, form]) => {
    const run = await runProgram(async () => {
      vi.resetModules();
      await import(`../../examples/policies/${rule}/fails.ts`);
      make();
    });
    expect(run.error).toBeUndefined();
    const outputs = new Map(run.resourceOutputs);
    for (const { urn, name } of run.resources)
      if (name === "strange") outputs.set(urn, { ...outputs.get(urn), ...form });
    const other = { ...run, resourceOutputs: outputs };
    const found = await host().analyzeStack(other);
    const about = found.map((each) => [each.rule, each.urn.split("::").at(-1)].join(" "));
    const alone = await host().analyzeStack(await runExample(`examples/policies/${rule}/fails.ts`));
    const wanted = [...alone.map(({ urn }) => `${rule} ${urn.split("::").at(-1)}`), "topology-readable strange"];
    expect(about.filter((each) => !each.startsWith("queue-protection")).toSorted()).toEqual(wanted.toSorted());
    // Excluding the resource removes only the violation about it.
    await host().configure({ "topology-readable": { enforcementLevel: "advisory", exclude: ["strange"] } });
    expect(new Set((await host().analyzeStack(other)).map((each) => each.rule))).toEqual(new Set([rule]));
    await host().configure({});
  });
});

describe("the version of a broker", () => {
  test("is not guessed if the component's target is unknown here", async () => {
    const run = await register(shop, "4.3");
    const registeredOutputs = new Map(
      [...run.registeredOutputs].map(([urn, own]) => [urn, { ...own, target: "rabbitmq@99" }]),
    );
    expect(await host().analyzeStack({ ...run, registeredOutputs })).toMatchObject([
      { rule: "topology-readable", level: "advisory", message: expect.stringContaining("99") },
    ]);
  });

  test("comes from the options, because a stack does not have it; the default is the newest", async () => {
    // Up to 3.13 the broker treats a delivery limit of -1 as 0.
    const rule = "rabbitmq-dead-letters-kept";
    const run = await runExample("examples/policies/rabbitmq-dead-letter-exchange/passes.ts");
    expect(await host().analyzeStack(run)).toEqual([]);
    await host().configure({ [rule]: { targets: ["rabbitmq@3.13"] } });
    expect(await host().analyzeStack(run)).toMatchObject([
      { rule, message: expect.stringContaining("by the rules of rabbitmq@3.13") },
    ]);
    await host().configure({});
  });
});

describe("names and waivers", () => {
  const rule = "rabbitmq-dead-letter-exchange";

  test.each([
    [{ exclude: ["orders"] }, 0],
    [{ waivers: [{ resource: "ord*", reason: "they can be made again", expires: "2999-12-31" }] }, 0],
    [{ waivers: [{ resource: "ord*", reason: "they can be made again", expires: "2020-01-01" }] }, 1],
    [{ include: ["billing"] }, 0],
  ])("%j leaves %d", async (settings, count) => {
    const run = await runExample(`examples/policies/${rule}/fails.ts`);
    await host().configure({ [rule]: settings });
    const found = await host().analyzeStack(run);
    await host().configure({});
    expect(found).toHaveLength(count);
    for (const { message } of found) expect(message).toContain("the waiver for it expired on 2020-01-01");
  });
});
