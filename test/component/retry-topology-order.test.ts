import { expect, test } from "vitest";

import shop from "../../stacks/shop.ts";
import type { RegisteredResource } from "../support/pulumi.ts";
import { register, resourcesOf, topologyOf } from "../support/pulumi.ts";

const versions = ["4.3", "4.0", "3.10"] as const;

test.each(versions)("on RabbitMQ %s no resource comes before one that it depends on", async (version) => {
  const { resources } = await register(shop, version);
  const seen = new Set<string>();
  for (const { urn, name, dependencies } of resources) {
    expect(
      dependencies.filter((dependency) => !seen.has(dependency)),
      name,
    ).toEqual([]);
    seen.add(urn);
  }
});

test.each(versions)("on RabbitMQ %s each resource depends on what it refers to", async (version) => {
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

test.each(versions)(
  "on RabbitMQ %s a message can come in only when its consumer's whole way out is there",
  async (version) => {
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
      const ownName = (value: unknown): boolean =>
        value === `shop.${consumer}` || String(value).startsWith(`shop.${consumer}.`);
      const own = run.resources.filter(
        ({ inputs }) => ownName(inputs["name"]) || ownName(inputs["destination"]) || ownName(inputs["source"]),
      );
      const missing = own.filter(({ urn, inputs }) => !before.has(urn) && !sources.has(String(inputs["source"])));
      expect(
        missing.map(({ name }) => name),
        entry.name,
      ).toEqual([]);
      if (consumer !== "mail") continue;
      const shared = run.resources.filter(({ inputs }) =>
        String(inputs["name"] ?? inputs["source"]).startsWith("shop.wait."),
      );
      expect(shared.filter(({ urn }) => !before.has(urn)).map(({ name }) => name)).toEqual([]);
    }
  },
);

test.each(versions)("on RabbitMQ %s no deployment throws away a waiting message", async (version) => {
  const run = await register(shop, version);
  const component = run.resources.find(({ type }) => type === "redeliver:index:RetryTopology")?.urn;
  const roles = new Map(topologyOf(shop, version).queues.map(({ name, role }) => [name, role]));
  for (const { name, inputs, parent, protect, retainOnDelete } of [
    ...resourcesOf(run, "Queue"),
    ...resourcesOf(run, "Policy"),
  ]) {
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
    expect({ parent, protect, retainOnDelete }).toEqual({
      parent: component,
      protect: false,
      retainOnDelete: false,
    });
  }
});
