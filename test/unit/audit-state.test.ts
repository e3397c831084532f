import { describe, expect, test } from "vitest";

import { deploymentOfResources } from "../../src/brokers/rabbitmq/foreign/import/pulumi-resources.ts";
import { brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { deploymentsInState } from "../../src/cli/audit-source.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { codesOf, type Read, readState, topologyIn, withoutBuiltIn } from "../support/read-topology.ts";

test("the resources of the Pulumi component are the compiled topology", () => {
  const target = accepted(parseTarget("rabbitmq@4.3", "waits"));
  const { topology } = accepted(
    compile(
      checked(
        oneConsumer({ from: { orders: "all" }, retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } } }),
      ),
      target,
    ),
  );
  const resource = (type: string, properties: object) => ({
    type,
    urn: "u",
    provider: null,
    properties: { vhost: "/", ...properties },
  });
  const result = deploymentOfResources([
    ...topology.exchanges.map((each) =>
      resource("rabbitmq:index/exchange:Exchange", {
        name: each.name,
        settings: { type: each.kind, durable: true, arguments: each.arguments },
      }),
    ),
    ...topology.queues.map((each) =>
      resource("rabbitmq:index/queue:Queue", {
        name: each.name,
        settings: { durable: true, argumentsJson: JSON.stringify(each.arguments) },
      }),
    ),
    ...topology.bindings.map(({ destinationKind, arguments: given, ...each }) =>
      resource("rabbitmq:index/binding:Binding", {
        ...each,
        destinationType: destinationKind,
        argumentsJson: JSON.stringify(given),
      }),
    ),
    ...topology.policies.map(({ name, definition, ...policy }) =>
      resource("rabbitmq:index/policy:Policy", {
        name,
        policy: {
          ...policy,
          definition: Object.fromEntries(Object.entries(definition).map(([key, value]) => [key, String(value)])),
        },
      }),
    ),
  ]);
  expect(withoutBuiltIn(topologyIn(result))).toEqual(brokerTopologyOf(topology));
});

describe("the state of a stack", () => {
  const state = (...resources: object[]): Read => readState(JSON.stringify({ version: 3, deployment: { resources } }));
  const made = (type: string, outputs: object, rest: object = {}): object => ({
    type: `rabbitmq:index/${type}`,
    urn: `urn:pulumi:prod::shop::rabbitmq:index/${type}::name-in-program`,
    outputs,
    ...rest,
  });
  const settings = { durable: true, arguments: { "x-delivery-limit": "5" } };
  const sealed = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hunter2"' };

  test("arguments are texts as the provider sends them, and numbers of a policy are numbers", () => {
    const result = state(
      made("queue:Queue", { name: "a", settings }),
      made("queue:Queue", {
        name: "b",
        vhost: "/",
        settings: { durable: true, argumentsJson: '{"x-delivery-limit":5,"x-queue-type":"quorum"}' },
      }),
      made("policy:Policy", {
        name: "p",
        vhost: "/",
        policy: {
          pattern: "a",
          priority: 1,
          applyTo: "all",
          definition: { "max-length": "-5", overflow: "drop-head" },
        },
      }),
      made("operatorPolicy:OperatorPolicy", {
        name: "o",
        vhost: "/",
        policy: { pattern: "a", priority: 0, applyTo: "queues", definition: {} },
      }),
    );
    const { queues, policies } = topologyIn(result);
    expect(queues).toEqual([
      { name: "a", kind: "classic", arguments: { "x-delivery-limit": "5" } },
      { name: "b", kind: "quorum", arguments: { "x-delivery-limit": 5, "x-queue-type": "quorum" } },
    ]);
    expect(policies.map(({ kind, definition }) => [kind, definition])).toEqual([
      ["user", { "max-length": -5, overflow: "drop-head" }],
      ["operator", {}],
    ]);
  });

  test.each([
    { name: sealed, settings },
    { name: "a", settings: sealed },
    { name: "a", settings: { durable: true, arguments: sealed } },
    { name: "a", settings: { durable: true, arguments: { "x-dead-letter-exchange": sealed } } },
    { name: "a", settings: { durable: true, argumentsJson: sealed } },
    { name: "a", vhost: "04da6b54-80e4-46f7-96ec-b56ff0331ba9", settings },
  ])("a resource with a secret is left out and named, and the secret is not shown", (outputs) => {
    const result = state(made("queue:Queue", outputs), made("queue:Queue", { name: "seen", settings }));
    expect(codesOf(result)).toEqual(["RD409"]);
    expect(JSON.stringify(result)).toContain("name-in-program");
    expect(JSON.stringify(result)).not.toContain("hunter2");
    expect(topologyIn(result).queues.map(({ name }) => name)).toEqual(["seen"]);
  });

  test("the file of a self-managed backend is read, too, and a resource that waits for its deletion is skipped", () => {
    const resources = [
      made("queue:Queue", { name: "old", settings }, { delete: true }),
      made("queue:Queue", { name: "new", settings }),
    ];
    const result = readState(JSON.stringify({ version: 3, checkpoint: { latest: { resources } } }));
    expect(topologyIn(result).queues.map(({ name }) => name)).toEqual(["new"]);
  });

  test("two providers are two brokers", () => {
    const on = (name: string): object =>
      made(
        "queue:Queue",
        { name: "a", settings },
        { provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id` },
      );
    const result = state(on("east"), on("west"));
    expect(codesOf(result)).toEqual([]);
    expect(result.ok && result.value.virtualHosts.map(({ name }) => name)).toEqual(["east: /", "west: /"]);
  });

  test("without resources of RabbitMQ there is nothing to audit", () => {
    const stack = { type: "pulumi:pulumi:Stack", urn: "urn:pulumi:prod::shop::pulumi:pulumi:Stack::s" };
    for (const resources of [[stack], []]) {
      const read = deploymentsInState(JSON.stringify({ version: 3, deployment: { resources } }));
      expect(read.ok ? [] : read.diagnostics.map(({ code }) => code)).toEqual(["RD401"]);
    }
  });
});

describe("the version of the broker", () => {
  const queue = {
    type: "rabbitmq:index/queue:Queue",
    urn: "q",
    provider: null,
    properties: { name: "orders", settings: {} },
  };
  const component = (target: unknown) => ({
    type: "redeliver:index:RetryTopology",
    urn: "c",
    provider: null,
    properties: { target },
  });
  const versionOf = (...components: readonly ReturnType<typeof component>[]): string | null | undefined => {
    const read = deploymentOfResources([queue, ...components]);
    return read.ok ? read.value.brokerVersion : undefined;
  };

  test("comes from the components in the stack, where a component has it", () => {
    expect(versionOf(component("rabbitmq@4.3"), component("rabbitmq@4.3"))).toBe("4.3");
  });

  test("is unknown without a component, with one that lacks it, and with two that differ", () => {
    expect([versionOf(), versionOf(component(undefined)), versionOf(component({ version: "4.3" }))]).toEqual([
      null,
      null,
      null,
    ]);
    expect(versionOf(component("rabbitmq@4.3"), component("rabbitmq@4.0"))).toBeNull();
  });
});
