import { expect, test } from "vitest";

import shop from "../../stacks/shop.ts";
import { register, type RegisteredResource, resourcesOf, topologyOf } from "../support/pulumi.ts";
import { before, expectInOrder } from "../support/registration-order.ts";

const versions = ["4.3", "4.0", "3.10"] as const;

test.each(versions)("on RabbitMQ %s no resource comes before one that it depends on", async (version) => {
  expectInOrder(await register(shop, version));
});

test.each(versions)("on RabbitMQ %s each resource depends on the resources that it refers to", async (version) => {
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
  // A queue is made before everything that leads into it. If the broker refuses the queue, its other resources stay
  // untouched.
  for (const { name } of queues) {
    expect(at("Queue", name).dependencies).toEqual([]);
    expect(at("Policy", name).dependencies).toEqual([at("Queue", name).urn]);
  }
  const deadLetterExchanges = new Map(queues.map((queue) => [queue.name, queue.arguments["x-dead-letter-exchange"]]));
  for (const { inputs, dependencies, propertyDependencies } of resourcesOf(run, "Binding")) {
    // As texts: with outputs, Pulumi would replace a binding with its queue, and then delete the new binding.
    expect(propertyDependencies["source"] ?? []).toEqual([]);
    expect(propertyDependencies["destination"] ?? []).toEqual([]);
    expect(dependencies).toContain(at("Exchange", inputs["source"]).urn);
    const isQueue = inputs["destinationType"] === "queue";
    expect(dependencies).toContain(at(isQueue ? "Policy" : "Exchange", inputs["destination"]).urn);
    const deadLetterExchange = isQueue ? deadLetterExchanges.get(String(inputs["destination"])) : undefined;
    if (deadLetterExchange !== undefined) expect(dependencies).toContain(at("Exchange", deadLetterExchange).urn);
  }
});

test.each(versions)(
  "on RabbitMQ %s no message can come in before its consumer's whole way out exists",
  async (version) => {
    const run = await register(shop, version);
    const { exchanges, queues } = topologyOf(shop, version);
    const sources = new Set(exchanges.filter(({ role }) => role === "source").map(({ name }) => name));
    const entries = resourcesOf(run, "Binding").filter(({ inputs }) => sources.has(String(inputs["source"])));
    expect(entries.length).toBeGreaterThanOrEqual(5);
    for (const entry of entries) {
      const consumer = queues.find(({ name }) => name === entry.inputs["destination"])?.consumer ?? "";
      const there = new Set([entry.urn, ...before(run, entry)]);
      const ownName = (value: unknown): boolean =>
        value === `shop.${consumer}` || String(value).startsWith(`shop.${consumer}.`);
      const own = run.resources.filter(
        ({ inputs }) => ownName(inputs["name"]) || ownName(inputs["destination"]) || ownName(inputs["source"]),
      );
      const missing = own.filter(({ urn, inputs }) => !there.has(urn) && !sources.has(String(inputs["source"])));
      expect(
        missing.map(({ name }) => name),
        entry.name,
      ).toEqual([]);
      if (consumer !== "mail") continue;
      const shared = run.resources.filter(({ inputs }) =>
        String(inputs["name"] ?? inputs["source"]).startsWith("shop.wait."),
      );
      expect(shared.filter(({ urn }) => !there.has(urn)).map(({ name }) => name)).toEqual([]);
    }
  },
);

test.each(versions)(
  "on RabbitMQ %s the policy of a queue that exists without arguments comes after its ways out, and before the ways in",
  async (version) => {
    const byPolicy = { queueSettings: "policy", deadLetter: { queueSettings: "policy" } } as const;
    const { billing, mail } = shop.consumers;
    const system = { ...shop, consumers: { billing: { ...billing, ...byPolicy }, mail: { ...mail, ...byPolicy } } };
    const run = await register(system as typeof shop, version);
    expectInOrder(run);
    const { exchanges } = topologyOf(shop, version);
    const sources = new Set(exchanges.filter(({ role }) => role === "source").map(({ name }) => name));
    for (const name of ["shop.billing", "shop.mail"]) {
      const policy = resourcesOf(run, "Policy").find(({ inputs }) => inputs["name"] === name) ?? expect.unreachable();
      const there = before(run, policy);
      const isOwn = (value: unknown): boolean => value === name || String(value).startsWith(`${name}.`);
      const own = run.resources.filter(
        ({ urn, inputs }) =>
          urn !== policy.urn && [inputs["name"], inputs["destination"], inputs["source"]].some(isOwn),
      );
      const [entries, ways] = [true, false].map((isEntry) =>
        own.filter(({ inputs }) => sources.has(String(inputs["source"])) === isEntry),
      ) as [RegisteredResource[], RegisteredResource[]];
      expect(ways.filter(({ urn }) => !there.has(urn)).map((each) => each.name)).toEqual([]);
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries) expect([...before(run, entry)]).toContain(policy.urn);
    }
  },
);

test.each(versions)("on RabbitMQ %s the way into a shared dead queue is there before a message", async (version) => {
  const run = await register(shop, version, false, { deadQueue: "shared" });
  expectInOrder(run);
  const bindings = resourcesOf(run, "Binding");
  const isWay = ({ inputs: { source, destination } }: RegisteredResource): boolean =>
    source === "shop.dead" && destination === "shop.dead";
  for (const consumer of ["billing", "mail"]) {
    const ways = bindings.filter((each) => isWay(each) && each.inputs["routingKey"] === `shop.${consumer}`);
    expect(ways).toMatchObject([{ retainOnDelete: true, protect: true }]);
    const entries = bindings.filter(({ inputs }) => inputs["destination"] === `shop.${consumer}`);
    const last = entries.at(-1) as RegisteredResource;
    const there = new Set(before(run, last));
    expect(ways.every(({ urn }) => there.has(urn))).toBe(true);
    // Thousands of consumers would else wait for each other.
    expect(bindings.filter((each) => isWay(each) && there.has(each.urn))).toHaveLength(1);
  }
});

/** Resources that come and go with delays and with the number of attempts. */
const passing: ReadonlySet<string> = new Set(["tier", "wait", "attempt", "attempts", "reasons"]);

test.each(versions)("on RabbitMQ %s no deployment deletes a resource that a message may need", async (version) => {
  const run = await register(shop, version);
  const component = run.resources.find(({ type }) => type === "redeliver:index:RetryTopology")?.urn;
  const { exchanges, queues } = topologyOf(shop, version);
  const comesAndGoes = new Set(
    [...exchanges, ...queues].flatMap(({ name, role }) => (passing.has(role) ? [name] : [])),
  );
  for (const kind of ["Queue", "Policy", "Exchange"]) {
    for (const { name, inputs, ...options } of resourcesOf(run, kind)) {
      expect({ name, ...optionsIn(options) }).toEqual({
        name,
        parent: component,
        protect: !comesAndGoes.has(String(inputs["name"])),
        retainOnDelete: true,
        deletedWith: "",
        deleteBeforeReplace: false,
      });
    }
  }
});

test.each(versions)(
  "on RabbitMQ %s a binding is deleted alone only if its consumer no longer wants it",
  async (version) => {
    const run = await register(shop, version);
    const { exchanges, queues } = topologyOf(shop, version);
    const roles = new Map(exchanges.map(({ name, role }) => [name, role]));
    const consumers = new Map(queues.map(({ name, consumer }) => [name, consumer]));
    const workQueues = new Map(
      resourcesOf(run, "Queue").map(({ urn, inputs }) => [String(inputs["name"]), urn] as const),
    );
    const counts = { goes: 0, stays: 0 };
    for (const { name, inputs, ...options } of resourcesOf(run, "Binding")) {
      const role = roles.get(String(inputs["source"]));
      const { protect, retainOnDelete, deletedWith, deleteBeforeReplace } = optionsIn(options);
      expect({ name, deleteBeforeReplace }).toEqual({ name, deleteBeforeReplace: false });
      if (role === "source") {
        counts.goes += 1;
        const owner = consumers.get(String(inputs["destination"]));
        expect({ name, deletedWith }).toEqual({ name, deletedWith: workQueues.get(`shop.${owner}`) });
        expect({ name, protect, retainOnDelete }).toEqual({ name, protect: false, retainOnDelete: false });
      } else {
        counts.stays += 1;
        expect({ name, deletedWith, retainOnDelete }).toEqual({ name, deletedWith: "", retainOnDelete: true });
        // Changes add and remove the bindings of tiers, waits and attempts, so these have no protection.
        expect({ name, protect }).toEqual({ name, protect: role === "dead" || role === "undeliverable" });
      }
    }
    expect(counts.goes).toBeGreaterThanOrEqual(5);
    expect(counts.stays).toBeGreaterThanOrEqual(5);
  },
);

function optionsIn({
  parent,
  protect,
  retainOnDelete,
  deletedWith,
  deleteBeforeReplace,
}: Pick<RegisteredResource, "parent" | "protect" | "retainOnDelete" | "deletedWith" | "deleteBeforeReplace">) {
  return { parent, protect, retainOnDelete, deletedWith, deleteBeforeReplace };
}
