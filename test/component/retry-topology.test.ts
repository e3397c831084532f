import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import { plan, type TargetInput, type Topology } from "../../src/index.ts";
import { RetryTopology } from "../../src/brokers/rabbitmq/make/index.ts";
import shop from "../../stacks/shop.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import type { ProgramRun, RegisteredResource } from "../support/pulumi.ts";
import { register, resourcesOf, runProgram, topologyOf } from "../support/pulumi.ts";

const versions = ["4.3", "4.0", "3.10"] as const;

const componentOf = (run: ProgramRun): RegisteredResource | undefined =>
  run.resources.find(({ type }) => type === "redeliver:index:RetryTopology");
const byText = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).toSorted();
const inputsOf = (run: ProgramRun, kind: string): string[] =>
  byText(resourcesOf(run, kind).map(({ inputs }) => inputs));

const optional = (key: string, table: object, value: unknown): object =>
  Object.keys(table).length > 0 ? { [key]: value } : {};

/** The inputs that the provider must get for a topology. Keys are in alphabetical order, as the mocks return them. */
function expectedInputs({ exchanges, policies, queues, bindings }: Topology, vhost: string): Record<string, string[]> {
  const textsOf = (table: object): object =>
    Object.fromEntries(
      Object.entries(table)
        .map(([key, value]) => [key, String(value)] as const)
        .toSorted(),
    );
  return {
    Exchange: byText(
      exchanges.map(({ name, kind: type, durable, autoDelete, arguments: table }) => ({
        name,
        settings: { ...optional("arguments", table, table), autoDelete, durable, type },
        vhost,
      })),
    ),
    Policy: byText(
      policies.map(({ name, pattern, applyTo, priority, definition }) => ({
        name,
        policy: { applyTo, definition: textsOf(definition), pattern, priority },
        vhost,
      })),
    ),
    Queue: byText(
      queues.map(({ name, durable, autoDelete, arguments: table }) => ({
        name,
        settings: { argumentsJson: JSON.stringify(table), autoDelete, durable },
        vhost,
      })),
    ),
    Binding: byText(
      bindings.map(({ source, destination, destinationKind, routingKey, arguments: table }) => ({
        ...optional("argumentsJson", table, JSON.stringify(table)),
        destination,
        destinationType: destinationKind,
        routingKey,
        source,
        vhost,
      })),
    ),
  };
}

test.each(versions.flatMap((version) => [true, false].map((preview) => ({ version, preview }))))(
  "exactly the compiled topology is registered on RabbitMQ $version (preview: $preview)",
  async ({ version, preview }) => {
    const run = await register(shop, version, preview);
    const expected = expectedInputs(topologyOf(shop, version), "a vhost");
    for (const [kind, inputs] of Object.entries(expected)) expect(inputsOf(run, kind), kind).toEqual(inputs);
    const children = Object.values(expected).flat().length;
    expect(run.resources, "the stack, the component and its children").toHaveLength(2 + children);
  },
);

test("the component's inputs have the declaration, and its outputs summarise the result", async () => {
  const run = await register(shop, "4.3");
  const component = componentOf(run);
  expect(component?.inputs).toEqual(
    JSON.parse(JSON.stringify({ declaration: shop, target: { broker: "rabbitmq", version: "4.3", strategy: "auto" } })),
  );
  const billing = plan(shop).consumers[0]?.retry;
  expect(run.registeredOutputs.get(component?.urn ?? "")).toMatchObject({
    target: "rabbitmq@4.3",
    consumers: {
      billing: {
        strategy: "staged",
        workQueue: "shop.billing",
        deadQueue: "shop.billing.dead",
        attempts: 5,
        worstCaseToDeadLetterMs: billing?.worstCaseToDeadLetterMs,
      },
      prices: {
        strategy: "every-instance",
        workQueue: null,
        deadQueue: null,
        attempts: 1,
        worstCaseToDeadLetterMs: null,
      },
    },
  });
  expect(run.outputs?.["workQueues"]).toEqual({
    billing: "shop.billing",
    shipping: "shop.shipping",
    mail: "shop.mail",
    audit: "shop.audit",
  });
  expect(run.outputs?.["contracts"]).toHaveLength(5);
});

test("logical names start with the component's name, are unique, and do not depend on other consumers", async () => {
  const namesOf = (run: ProgramRun): string[] =>
    run.resources.filter(({ type }) => type.startsWith("rabbitmq:")).map(({ type, name }) => `${type} ${name}`);
  const before = namesOf(await register(shop, "4.3"));
  const { billing, ...others } = shop.consumers;
  const after = namesOf(
    await register(checked({ ...shop, consumers: { first: others["audit"], ...others, billing } }), "4.3"),
  );
  expect(before.filter((name) => !/^rabbitmq:index\/\w+:\w+ shop-shop\./.test(name))).toEqual([]);
  expect(new Set(before).size).toBe(before.length);
  expect(before.filter((name) => !after.includes(name))).toEqual([]);
});

test("fewer attempts remove tiers and no other queue", async () => {
  const names = async (attempts: number): Promise<string[]> => {
    const retry = { attempts, backoff: { kind: "exponential", first: "1s", factor: 3 } };
    return resourcesOf(await register(checked(oneConsumer({ retry })), "4.3"), "Queue").map(({ name }) => name);
  };
  const [five, three] = [await names(5), await names(3)];
  expect(five.filter((name) => !three.includes(name)).toSorted()).toEqual([
    "shop-shop.attempt.4.9s",
    "shop-shop.attempt.5.27s",
  ]);
  expect(three.filter((name) => !five.includes(name))).toEqual([]);
});

test("a warning is shown, and the deployment continues", async () => {
  const run = await register(shop, "4.0");
  expect(run.log.join("\n")).toMatch(/^warning:.*\n+warning\[RD207\]/m);
  expect(resourcesOf(run, "Queue").length).toBeGreaterThan(0);
});

describe("a refused declaration", () => {
  const refusals = [
    [
      "a malformed value",
      oneConsumer({ retry: { attempts: 5, backoff: { kind: "constant", delay: "5" } } }),
      { broker: "rabbitmq", version: "4.3" },
      "RD103",
      "consumers.billing.retry.backoff.delay",
    ],
    ["an unknown target", oneConsumer(), { broker: "rabbitmq", version: "9.9" }, "RD201", "target.version"],
    [
      "a strategy that cannot keep it",
      oneConsumer(),
      { broker: "rabbitmq", version: "4.3", strategy: "native" },
      "RD202",
      "consumers.billing.retry.backoff",
    ],
  ] as const;
  test.each(refusals)(
    "%s ends the program before any resource is registered",
    async (_, system, target, code, path) => {
      const run = await runProgram(() => void new RetryTopology("shop", { system, target }));
      expect(pulumi.RunError.isInstance(run.error)).toBe(true);
      const message = run.error?.message ?? "";
      expect(message.split("\n")[0]).toBe('RetryTopology "shop" is refused');
      expect(message).toContain(`error[${code}]`);
      expect(message).toContain(`  at   ${path}`);
      expect(message).not.toMatch(/^\s+at .*:\d+:\d+/m);
      expect(run.resources.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
    },
  );

  test("a target of another component's broker ends the program, too", async () => {
    const target = { broker: "sqs", region: "eu-west-1" } as unknown as TargetInput<"rabbitmq">;
    const run = await runProgram(() => void new RetryTopology("shop", { system: oneConsumer(), target }));
    expect(run.error?.message).toBe(
      'RetryTopology "shop" is refused: for Amazon SQS there is SqsRetryTopology from redeliver/pulumi/sqs',
    );
    expect(run.resources.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
  });
});
