import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import { compile, plan } from "../../src/index.ts";
import type { System, Topology } from "../../src/index.ts";
import { RetryTopology } from "../../src/deploy/index.ts";
import shop from "../../stacks/shop.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import type { ProgramRun, RegisteredResource } from "../support/pulumi.ts";
import { resourcesOf, runProgram } from "../support/pulumi.ts";

const versions = ["4.3", "4.0", "3.10"] as const;

async function register(system: System, version: string, preview = false): Promise<ProgramRun> {
  const run = await runProgram(
    () => {
      const { contracts, workQueues } = new RetryTopology("shop", { system, target: { broker: "rabbitmq", version }, vhost: pulumi.output("a vhost") });
      return { contracts, workQueues };
    },
    { preview },
  );
  expect(run.error).toBeUndefined();
  return run;
}

function topologyOf(system: System, version: string): Topology {
  const compiled = compile(system, { broker: "rabbitmq", version });
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join("\n"));
  return compiled.value.topology;
}

const componentOf = (run: ProgramRun): RegisteredResource | undefined => run.resources.find(({ type }) => type === "redeliver:index:RetryTopology");
const byText = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).toSorted();
const inputsOf = (run: ProgramRun, kind: string): string[] => byText(resourcesOf(run, kind).map(({ inputs }) => inputs));

describe.each(versions)("on RabbitMQ %s", (version) => {
  test.each([
    ["a preview", true],
    ["an update", false],
  ])("%s registers exactly the compiled topology", async (_, preview) => {
    const run = await register(shop, version, preview);
    const { exchanges, policies, queues, bindings } = topologyOf(shop, version);
    const vhost = "a vhost";
    // Keys in the order of the alphabet, as the mocks return them.
    expect(inputsOf(run, "Exchange")).toEqual(
      byText(exchanges.map(({ name, kind: type, durable, autoDelete, arguments: table }) => ({
        name,
        settings: { ...(Object.keys(table).length > 0 ? { arguments: table } : {}), autoDelete, durable, type },
        vhost,
      }))),
    );
    expect(inputsOf(run, "Policy")).toEqual(
      byText(policies.map(({ name, pattern, applyTo, priority, definition }) => {
        const texts = Object.entries(definition).map(([key, value]) => [key, String(value)] as const);
        return { name, policy: { applyTo, definition: Object.fromEntries(texts.toSorted()), pattern, priority }, vhost };
      })),
    );
    expect(inputsOf(run, "Queue")).toEqual(
      byText(queues.map(({ name, durable, autoDelete, arguments: table }) => ({
        name,
        settings: { argumentsJson: JSON.stringify(table), autoDelete, durable },
        vhost,
      }))),
    );
    expect(inputsOf(run, "Binding")).toEqual(
      byText(bindings.map(({ source, destination, destinationKind: destinationType, routingKey, arguments: table }) => ({
        ...(Object.keys(table).length > 0 ? { argumentsJson: JSON.stringify(table) } : {}),
        destination,
        destinationType,
        routingKey,
        source,
        vhost,
      }))),
    );
    const children = exchanges.length + policies.length + queues.length + bindings.length;
    expect(run.resources, "the stack, the component and its children").toHaveLength(2 + children);
  });

  test("no resource comes before one that it depends on", async () => {
    const { resources } = await register(shop, version);
    const seen = new Set<string>();
    for (const { urn, name, dependencies } of resources) {
      expect(dependencies.filter((dependency) => !seen.has(dependency)), name).toEqual([]);
      seen.add(urn);
    }
  });

  test("each resource depends on what it refers to", async () => {
    const run = await register(shop, version);
    const { exchanges, queues } = topologyOf(shop, version);
    const at = (kind: string, name: unknown): RegisteredResource => {
      const found = resourcesOf(run, kind).filter(({ inputs }) => inputs["name"] === name);
      expect(found, String(name)).toHaveLength(1);
      return found[0] as RegisteredResource;
    };
    for (const { name, arguments: table } of exchanges) {
      const alternate = table["alternate-exchange"];
      expect(at("Exchange", name).dependencies).toEqual(alternate === undefined ? [] : [at("Exchange", alternate).urn]);
    }
    for (const { name, arguments: table } of queues) {
      const deadLetterExchange = table["x-dead-letter-exchange"];
      expect(at("Queue", name).dependencies).toEqual([
        at("Policy", name).urn,
        ...(deadLetterExchange === undefined ? [] : [at("Exchange", deadLetterExchange).urn]),
      ]);
    }
    for (const { inputs, propertyDependencies } of resourcesOf(run, "Binding")) {
      expect(propertyDependencies["source"]).toEqual([at("Exchange", inputs["source"]).urn]);
      const kind = inputs["destinationType"] === "queue" ? "Queue" : "Exchange";
      expect(propertyDependencies["destination"]).toEqual([at(kind, inputs["destination"]).urn]);
    }
  });

  test("a message can come in only when its consumer's whole way out is there", async () => {
    const run = await register(shop, version);
    const byUrn = new Map(run.resources.map((resource) => [resource.urn, resource]));
    const { exchanges, queues } = topologyOf(shop, version);
    const sources = new Set(exchanges.filter(({ role }) => role === "source").map(({ name }) => name));
    const entries = resourcesOf(run, "Binding").filter(({ inputs }) => sources.has(String(inputs["source"])));
    expect(entries.length).toBeGreaterThanOrEqual(5);
    for (const entry of entries) {
      const consumer = queues.find(({ name }) => name === entry.inputs["destination"])?.consumer ?? "";
      const before = new Set<string>();
      const visit = (urn: string): void => {
        if (before.has(urn)) return;
        before.add(urn);
        for (const dependency of byUrn.get(urn)?.dependencies ?? []) visit(dependency);
      };
      visit(entry.urn);
      const ownName = (value: unknown): boolean => value === `shop.${consumer}` || String(value).startsWith(`shop.${consumer}.`);
      const own = run.resources.filter(
        ({ inputs }) => ownName(inputs["name"]) || ownName(inputs["destination"]) || ownName(inputs["source"]),
      );
      const missing = own.filter(({ urn, inputs }) => !before.has(urn) && !sources.has(String(inputs["source"])));
      expect(missing.map(({ name }) => name), entry.name).toEqual([]);
      if (consumer !== "mail") continue;
      const shared = run.resources.filter(({ inputs }) => String(inputs["name"] ?? inputs["source"]).startsWith("shop.wait."));
      expect(shared.filter(({ urn }) => !before.has(urn)).map(({ name }) => name)).toEqual([]);
    }
  });

  test("no deployment throws away a waiting message", async () => {
    const run = await register(shop, version);
    const component = componentOf(run)?.urn;
    const roles = new Map(topologyOf(shop, version).queues.map(({ name, role }) => [name, role]));
    for (const { name, inputs, parent, protect, retainOnDelete } of [...resourcesOf(run, "Queue"), ...resourcesOf(run, "Policy")]) {
      const role = roles.get(String(inputs["name"]));
      const isQueue = "settings" in inputs;
      expect({ name, parent, protect, retainOnDelete }).toEqual({
        name,
        parent: component,
        protect: isQueue && (role === "work" || role === "dead"),
        retainOnDelete: true,
      });
    }
    for (const { parent, protect, retainOnDelete } of [...resourcesOf(run, "Exchange"), ...resourcesOf(run, "Binding")]) {
      expect({ parent, protect, retainOnDelete }).toEqual({ parent: component, protect: false, retainOnDelete: false });
    }
  });
});

test("the component carries the declaration, and tells what became of it", async () => {
  const run = await register(shop, "4.3");
  const component = componentOf(run);
  expect(component?.inputs).toEqual(JSON.parse(JSON.stringify({ declaration: shop, target: { broker: "rabbitmq", version: "4.3", strategy: "auto" } })));
  const billing = plan(shop).consumers[0]?.retry;
  expect(run.registeredOutputs.get(component?.urn ?? "")).toMatchObject({
    target: "rabbitmq@4.3",
    consumers: {
      billing: { strategy: "staged", workQueue: "shop.billing", deadQueue: "shop.billing.dead", attempts: 5, worstCaseToDeadLetterMs: billing?.worstCaseToDeadLetterMs },
      prices: { strategy: "every-instance", workQueue: null, deadQueue: null, attempts: 1, worstCaseToDeadLetterMs: null },
    },
  });
  expect(run.outputs?.["workQueues"]).toEqual({ billing: "shop.billing", shipping: "shop.shipping", mail: "shop.mail", audit: "shop.audit" });
  expect(run.outputs?.["contracts"]).toHaveLength(5);
});

test("logical names start with the component's, are unique, and stay when consumers come, go or change places", async () => {
  const namesOf = (run: ProgramRun): string[] => run.resources.filter(({ type }) => type.startsWith("rabbitmq:")).map(({ type, name }) => `${type} ${name}`);
  const before = namesOf(await register(shop, "4.3"));
  const { billing, ...others } = shop.consumers;
  const after = namesOf(await register(checked({ ...shop, consumers: { first: others["audit"], ...others, billing } }), "4.3"));
  expect(before.filter((name) => !/^rabbitmq:index\/\w+:\w+ shop-shop\./.test(name))).toEqual([]);
  expect(new Set(before).size).toBe(before.length);
  expect(before.filter((name) => !after.includes(name))).toEqual([]);
});

test("fewer attempts leave out tiers and no other queue", async () => {
  const names = async (attempts: number): Promise<string[]> =>
    resourcesOf(await register(checked(oneConsumer({ retry: { attempts, backoff: { kind: "exponential", first: "1s", factor: 3 } } })), "4.3"), "Queue").map(({ name }) => name);
  const [five, three] = [await names(5), await names(3)];
  expect(five.filter((name) => !three.includes(name)).toSorted()).toEqual(["shop-shop.billing.attempt.4", "shop-shop.billing.attempt.5"]);
  expect(three.filter((name) => !five.includes(name))).toEqual([]);
});

test("a warning is shown, and the deployment goes on", async () => {
  const run = await register(shop, "4.0");
  expect(run.log.join("\n")).toMatch(/^warning:.*\n+warning\[RD207\]/m);
  expect(resourcesOf(run, "Queue").length).toBeGreaterThan(0);
});

describe("a declaration that is refused", () => {
  const refusals = [
    ["a malformed value", oneConsumer({ retry: { attempts: 5, backoff: { kind: "constant", delay: "5" } } }), { broker: "rabbitmq", version: "4.3" }, "RD103", "consumers.billing.retry.backoff.delay"],
    ["an unknown target", oneConsumer(), { broker: "rabbitmq", version: "9.9" }, "RD201", "target.version"],
    ["a strategy that cannot keep it", oneConsumer(), { broker: "rabbitmq", version: "4.3", strategy: "native" }, "RD202", "consumers.billing.retry.backoff"],
  ] as const;
  test.each(refusals)("%s ends the program before anything is registered", async (_, system, target, code, path) => {
    const run = await runProgram(() => void new RetryTopology("shop", { system, target }));
    expect(pulumi.RunError.isInstance(run.error)).toBe(true);
    const message = run.error?.message ?? "";
    expect(message.split("\n")[0]).toBe('RetryTopology "shop" is refused');
    expect(message).toContain(`error[${code}]`);
    expect(message).toContain(`  at   ${path}`);
    expect(message).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect(run.resources.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
  });
});
