import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, inject, test, type TestContext } from "vitest";

import { run } from "../../src/cli/run.ts";
import { brokers, compile, type TargetInput } from "../../src/index.ts";
import type { JudgedDifference } from "../../src/migrate/judge-drift.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { accepted, checked } from "../support/examples.ts";
import { createLimitedUser } from "../support/limited-user.ts";
import type { Broker } from "../support/live.ts";
import { createManagement, type JsonObject, type Management } from "../support/management.ts";
import { start } from "../support/consume/start.ts";
import { withQueues } from "../support/strategies.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Changes a deployed system by hand, and compares it with its declaration on a live broker. Each test has a virtual host
// of its own. They run side by side, because most of their time they wait for the broker's statistics.

const folder = temporaryFolder("diff");

const shop = {
  name: "shop",
  sources: { orders: { kind: "topic" }, theirs: { kind: "topic", name: "events.orders", owner: "other" } },
  consumers: {
    billing: {
      from: { orders: ["order.placed"], theirs: ["order.#"] },
      retry: { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } },
    },
  },
};
const file = join(folder, "shop.json");
writeFileSync(file, JSON.stringify(shop));

const theirs = { type: "topic", durable: true, arguments: { "alternate-exchange": "events.rest" } };

const patient = { concurrent: true, timeout: 180_000 } as const;

type Finish = Pick<TestContext, "onTestFinished">;

async function deployed(broker: Broker, { onTestFinished }: Finish): Promise<DeployedSystem> {
  const management = createManagement(broker.managementUrl);
  const system = await deploy(broker, shop, withQueues(broker.version), (vhost) =>
    management.declareExchange(vhost, "events.orders", theirs),
  );
  onTestFinished(system.dispose);
  return system;
}

function tierOf({ topology }: DeployedSystem["compiled"]): string {
  return topology.queues.find(({ role }) => role === "tier" || role === "wait")?.name ?? "";
}

interface Answer {
  readonly code: number;
  readonly differences: readonly JudgedDifference[];
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
}

async function diff(broker: Broker, vhost: string, declaration = file, targetFile?: string): Promise<Answer> {
  const { version, managementUrl } = broker;
  const url = `${managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
  const target = targetFile === undefined ? [`rabbitmq@${version}`, "--strategy", withQueues(version)] : [targetFile];
  const options = ["--target", ...target, "--url", url, "--json"];
  // The standard output is the same for all tests.
  const output = join(folder, randomUUID());
  const code = await run(["diff", declaration, ...options, "--output", output]);
  return { code, ...(JSON.parse(readFileSync(output, "utf8")) as Omit<Answer, "code">) };
}

interface Drift {
  readonly change: (management: Management, vhost: string, tier: string) => Promise<void>;
  /** The differences, worst first: effect, and the beginning of the name. */
  readonly found: (tier: string, version: string) => readonly (readonly [JudgedDifference["effect"], string])[];
}

const path = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join("/");
const policy = (definition: JsonObject, more: JsonObject = {}): JsonObject => {
  return { pattern: "^shop\\.billing$", "apply-to": "queues", priority: 2_000, definition, ...more };
};
const bind = (source: string, destination: string, routingKey: string) => {
  return { source, destination, destinationType: "queue" as const, routingKey };
};

const drifts: Readonly<Record<string, Drift>> = {
  nothing: { change: async () => {}, found: () => [] },
  "a deleted binding of a source": {
    change: (management, vhost) =>
      management.delete(path("bindings", vhost, "e", "shop.orders", "q", "shop.billing", "order.placed")),
    found: () => [["loss", "shop.orders to the queue shop.billing"]],
  },
  "an extra binding: messages from elsewhere": {
    change: (management, vhost) => management.bind(vhost, bind("amq.topic", "shop.billing", "#")),
    found: () => [["otherwise", "amq.topic to the queue shop.billing"]],
  },
  "an extra binding: each message is doubled": {
    change: (management, vhost) => management.bind(vhost, bind("shop.orders", "shop.billing.dead", "order.placed")),
    found: () => [["otherwise", "shop.orders to the queue shop.billing.dead"]],
  },
  "an extra binding that others may have: a queue of another team on the source": {
    change: async (management, vhost) => {
      await management.declareQueue(vhost, "reports", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await management.bind(vhost, bind("shop.orders", "reports", "#"));
      await management.bind(vhost, bind("events.orders", "reports", "#"));
    },
    found: () => [],
  },
  "a narrower binding beside the declared one": {
    change: (management, vhost) => management.bind(vhost, bind("events.orders", "shop.billing", "order.placed")),
    found: () => [["harmless", "events.orders to the queue shop.billing"]],
  },
  "a policy that takes over by its priority": {
    change: (management, vhost) => management.putPolicy(vhost, "team", policy({ "max-length": 100 })),
    found: () => [["loss", "shop.billing"]],
  },
  "a policy that matches, and does not take over": {
    change: (management, vhost) =>
      management.putPolicy(vhost, "team", policy({ "max-length": 1 }, { pattern: ".*", priority: 0 })),
    found: () => [],
  },
  "an operator policy": {
    change: (management, vhost) =>
      management.put(
        path("operator-policies", vhost, "limits"),
        policy({ "message-ttl": 60_000 }, { pattern: "^shop\\.billing\\.dead$" }),
      ),
    found: () => [["loss", "shop.billing.dead"]],
  },
  "the policy of a tier is gone": {
    change: (management, vhost, tier) => management.delete(path("policies", vhost, tier)),
    // Under waits, which 3.10 has, each copy has an expiration of its own. The queue's only bounds it.
    found: (tier, version) => [[version === "3.10" ? "otherwise" : "loss", tier]],
  },
  "the policy of a tier waits longer": {
    change: (management, vhost, tier) =>
      management.putPolicy(vhost, tier, {
        pattern: `^${tier.replaceAll(".", "\\.")}$`,
        "apply-to": "queues",
        priority: 1_000,
        definition: { overflow: "reject-publish", "message-ttl": 9_000 },
      }),
    found: (tier) => [["otherwise", tier]],
  },
  "a missing dead queue": {
    change: (management, vhost) => management.delete(path("queues", vhost, "shop.billing.dead")),
    found: () => [["loss", "shop.billing.dead"]],
  },
  "a missing exchange": {
    change: (management, vhost) => management.delete(path("exchanges", vhost, "shop.orders")),
    found: () => [["loss", "shop.orders"]],
  },
  "the dead queue of another type": {
    change: async (management, vhost) => {
      await management.delete(path("queues", vhost, "shop.billing.dead"));
      await management.declareQueue(vhost, "shop.billing.dead", {
        durable: true,
        arguments: { "x-queue-type": "classic" },
      });
      await management.bind(vhost, bind("shop.dead", "shop.billing.dead", "shop.billing"));
    },
    // From 3.12 on the declared policy is for quorum queues alone. On 3.10 its delivery limit is.
    found: () => [
      ["loss", "shop.billing.dead"],
      ["harmless", "shop.billing.dead"],
    ],
  },
  "an argument more": {
    change: async (management, vhost) => {
      const queue = await management.queue(vhost, "shop.billing.dead");
      await management.delete(path("queues", vhost, "shop.billing.dead"));
      await management.declareQueue(vhost, "shop.billing.dead", {
        durable: true,
        arguments: { ...queue.arguments, "x-max-length": 5 },
      });
      await management.bind(vhost, bind("shop.dead", "shop.billing.dead", "shop.billing"));
    },
    found: () => [["loss", "shop.billing.dead"]],
  },
  "an exchange of another owner with other settings and another kind": {
    change: async (management, vhost) => {
      await management.delete(path("exchanges", vhost, "events.orders"));
      await management.declareExchange(vhost, "events.orders", { ...theirs, type: "direct" });
      await management.bind(vhost, bind("events.orders", "shop.billing", "order.#"));
    },
    found: () => [["loss", "events.orders"]],
  },
  "an internal source of another owner": {
    change: async (management, vhost) => {
      await management.delete(path("exchanges", vhost, "events.orders"));
      await management.declareExchange(vhost, "events.orders", { ...theirs, internal: true });
      await management.bind(vhost, bind("events.orders", "shop.billing", "order.#"));
    },
    found: () => [["loss", "events.orders"]],
  },
  "another queue that dead-letters into a declared one": {
    change: (management, vhost) =>
      management.declareQueue(vhost, "reports", {
        durable: true,
        arguments: { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "shop.billing" },
      }),
    found: () => [["otherwise", "from reports into the queue shop.billing"]],
  },
};

test.for(
  Object.entries(drifts).flatMap(([name, drift]) => inject("brokers").map((broker) => ({ broker, name, ...drift }))),
)("$broker.version: $name", patient, async ({ broker, change, found }, context) => {
  const { vhost, compiled } = await deployed(broker, context);
  const tier = tierOf(compiled);
  const management = createManagement(broker.managementUrl);
  await change(management, vhost, tier);
  const changed = await management.exportDefinitions(vhost);
  const { code, differences } = await diff(broker, vhost);
  const wanted = found(tier, broker.version);
  expect(differences.map(({ effect, name }) => [effect, name])).toEqual(
    wanted.map(([effect, name]) => [effect, expect.stringContaining(name)]),
  );
  expect(code).toBe(wanted.length === 0 ? 0 : 1);
  // It only reads.
  expect(await management.exportDefinitions(vhost)).toEqual(changed);
});

test.for(inject("brokers"))("$version: the loss that it reports happens", patient, async (broker, context) => {
  const { vhost, channel, publish } = await deployed(broker, context);
  const binding = path("bindings", vhost, "e", "shop.orders", "q", "shop.billing", "order.placed");
  await createManagement(broker.managementUrl).delete(binding);
  const { differences } = await diff(broker, vhost);
  expect(differences[0]?.trace).toEqual(["published: lost: the exchange has no route for it"]);
  const returned: string[] = [];
  channel.on("return", ({ fields }: { readonly fields: { readonly replyText: string } }) =>
    returned.push(fields.replyText),
  );
  channel.publish("shop.orders", "order.placed", Buffer.from("{}"), { mandatory: true });
  await publish(["a"], { exchange: "shop.orders", routingKey: "order.placed" });
  expect(returned).toEqual(["NO_ROUTE"]);
  expect((await channel.checkQueue("shop.billing")).messageCount).toBe(0);
});

const withTiers = inject("brokers").filter(({ version }) => withQueues(version) === "staged");

test.for(withTiers)("$version: resources of an earlier declaration", patient, async (broker, context) => {
  const { vhost, compiled: old } = await deployed(broker, context);
  const management = createManagement(broker.managementUrl);
  const { billing } = shop.consumers;
  const retry = { attempts: 5, backoff: { kind: "constant", delay: "2s" } };
  const next = { ...shop, consumers: { billing: { ...billing, retry } } };
  const target = { broker: "rabbitmq", version: broker.version, strategy: "staged" } as const;
  const compiled = accepted(compile(checked(next), target));
  const definitions = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost);
  await management.importDefinitions(definitions as JsonObject);
  const declaration = join(folder, `${randomUUID()}.json`);
  writeFileSync(declaration, JSON.stringify(next));
  expect(await diff(broker, vhost, declaration)).toMatchObject({ code: 0, differences: [], diagnostics: [] });
  expect((await management.queue(vhost, tierOf(old))).name).toBe(tierOf(old));
  // An old tier counts as soon as a message of the new declaration can reach it.
  const failed = old.topology.policies.find(({ name }) => name === "shop.billing.failed");
  if (failed === undefined) throw new Error("no policy");
  const { pattern, applyTo, priority, definition } = failed;
  await management.putPolicy(vhost, failed.name, { pattern, "apply-to": applyTo, priority, definition });
  const { code, differences } = await diff(broker, vhost, declaration);
  expect(differences.map(({ effect, name }) => [effect, name])).toEqual([["otherwise", "shop.billing.failed"]]);
  expect(code).toBe(1);
});

test.for(withTiers)("$version: a message waits for ever where it says so", patient, async (broker, context) => {
  const { vhost, url, channel, publish, compiled, contract } = await deployed(broker, context);
  const tier = tierOf(compiled);
  const management = createManagement(broker.managementUrl);
  await management.delete(path("policies", vhost, tier));
  const { differences } = await diff(broker, vhost);
  expect(differences[0]?.reason).toBe(`a message waits in ${tier} for ever`);
  // The message takes the path of the trace. It is still there when one with three times its delay has come out again.
  const driver = await drive({ url, contract: contract("billing"), decide: () => "transient" });
  context.onTestFinished(driver.stop);
  await publish(["a"], { exchange: "shop.orders", routingKey: "order.placed" });
  await until(30_000, async () => (await channel.checkQueue(tier)).messageCount === 1);
  await channel.assertQueue("out", { durable: true });
  const delayed = { "x-message-ttl": 3_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "out" };
  await channel.assertQueue("clock", { durable: true, arguments: delayed });
  await publish(["b"], { exchange: "", routingKey: "clock" });
  await until(60_000, async () => (await channel.checkQueue("out")).messageCount === 1);
  expect((await channel.checkQueue(tier)).messageCount).toBe(1);
  expect(driver.seen.map(({ id }) => id)).toEqual(["a"]);
});

test.for(inject("brokers"))("$version: letters that cannot leave their queue", patient, async (broker, context) => {
  const { vhost, channel, publish } = await deployed(broker, context);
  const management = createManagement(broker.managementUrl);
  await management.delete(path("bindings", vhost, "e", "shop.dead", "q", "shop.billing.dead", "shop.billing"));
  await publish(["a"], { exchange: "shop.orders", routingKey: "order.placed" });
  // Under every strategy a message dies after its crashes, and has no way on now.
  for (;;) {
    const message = await channel.get("shop.billing");
    if (message === false) break;
    channel.reject(message, true);
  }
  let answer: Answer | null = null;
  await until(60_000, async () => {
    answer = await diff(broker, vhost);
    return answer.diagnostics.some(({ message }) => message.startsWith("1 dead letters of the queue shop.billing "));
  });
  expect(answer).toMatchObject({ code: 1, differences: [{ effect: "loss", change: "missing", kind: "binding" }] });
});

test.for(inject("brokers"))(
  "$version: without a permission the comparison is incomplete",
  patient,
  async (broker, context) => {
    const { vhost } = await deployed(broker, context);
    const codes = ({ code, diagnostics }: Answer): readonly unknown[] => [
      code,
      ...diagnostics.map((each) => each.code),
    ];
    expect(codes(await diff(broker, "no-such-vhost"))).toEqual([3, "RD408"]);
    const management = { tag: "management" };
    const stranger = await createLimitedUser(broker, vhost, management);
    context.onTestFinished(stranger.remove);
    expect(codes(await diff(stranger.broker, vhost))).toEqual([3, "RD408"]);
    const nobody = await createLimitedUser(broker, vhost, { tag: null, configure: "", write: "", read: "" });
    context.onTestFinished(nobody.remove);
    expect(codes(await diff(nobody.broker, vhost))).toEqual([3, "RD408"]);
    const reader = await createLimitedUser(broker, vhost, {
      tag: "management",
      configure: "^$",
      write: "^$",
      read: "^$",
    });
    context.onTestFinished(reader.remove);
    expect(codes(await diff(reader.broker, vhost))).toEqual([0]);
  },
);

test.for(inject("brokers").filter(({ version }) => version === "4.3"))(
  "$version: policies that others own, with the broker's rules of priority and merging",
  patient,
  async (broker, context) => {
    const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
    const { from } = shop.consumers.billing;
    const declaration = { ...shop, consumers: { billing: { from, retry, queueArguments: { maxLength: 1_000 } } } };
    const management = createManagement(broker.managementUrl);
    const system = await deploy(broker, declaration, "native", (vhost) =>
      management.declareExchange(vhost, "events.orders", theirs),
    );
    context.onTestFinished(system.dispose);
    const { vhost, compiled } = system;
    const own = compiled.topology.policies.find(({ name }) => name === "shop.billing")?.definition ?? {};
    const takeover = policy({ ...own, "queue-leader-locator": "balanced" });
    const limits = policy({ "max-length": 500, "delivery-limit": 100 }, { priority: 1 });
    await management.putPolicy(vhost, "takeover", takeover);
    await management.put(path("operator-policies", vhost, "limits"), limits);

    const scope = (given: JsonObject) => ({ pattern: given["pattern"], applyTo: given["apply-to"] });
    const policies = [
      { name: "takeover", ...scope(takeover), priority: 2_000, definition: takeover["definition"] },
      { name: "limits", kind: "operator", ...scope(limits), priority: 1, definition: limits["definition"] },
    ] as unknown as NonNullable<TargetInput<"rabbitmq">["policies"]>;
    const target = { broker: "rabbitmq", version: broker.version, strategy: "native" } as const;
    const written = (given: unknown): string => {
      const name = join(folder, `${randomUUID()}.json`);
      writeFileSync(name, JSON.stringify(given));
      return name;
    };
    const declared = written(declaration);
    const compare = (given: object) => diff(broker, vhost, declared, written(given));
    expect(await compare(target)).toMatchObject({ code: 1, differences: [{ name: "shop.billing" }] });
    expect(await compare({ ...target, policies })).toMatchObject({ code: 0, differences: [], diagnostics: [] });

    // The check before the first message compares the same values.
    const codes = async (given: TargetInput<"rabbitmq">): Promise<readonly string[]> =>
      (await start(system, { target: given })).codes;
    expect(await codes(target)).toEqual(["RD808"]);
    expect(await codes({ ...target, policies })).toEqual([]);

    // The compiler refuses this one, because a message leaves the work queue without a consumer. So it happens.
    const early = policy({ "message-ttl": 500 }, { priority: 2 });
    await management.put(path("operator-policies", vhost, "early"), early);
    await system.publish(["a"]);
    expect(await system.deadIds(1)).toEqual(["a"]);
  },
);
