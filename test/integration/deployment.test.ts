import { describe, expect, inject, test } from "vitest";

import { Provider } from "@pulumi/rabbitmq";
import { checkTarget } from "../../src/brokers/index.ts";
import { type Answer, askBroker } from "../../src/brokers/rabbitmq/make/ask-broker.ts";
import { compile, type Topology } from "../../src/index.ts";
import shop from "../../stacks/shop.ts";
import { applyResources } from "../support/apply-resources.ts";
import { drive } from "../support/drive.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { createManagement, credentialsOf, type JsonObject, type Management } from "../support/management.ts";
import { runProgram, stackProgram, topologyOf } from "../support/pulumi.ts";
import { configOf, createCliStack, hasPulumiCli } from "../support/pulumi-cli.ts";

const brokers = inject("brokers");
const how = hasPulumiCli
  ? "pulumi up, through the Automation API with a file backend"
  : "the program under Pulumi's mocks, its resources applied through the management API (there is no pulumi on PATH)";
console.log(`[deployment] what runs: ${how}`);

describe.each(brokers)("the stack program on RabbitMQ $fullVersion", (broker) => {
  // The engine needs minutes on a busy machine.
  test(`deploys exactly the compiled topology: ${how}`, { timeout: 900_000 }, async () => {
    const { vhost, dispose } = await createVhost(broker);
    const management = createManagement(broker.managementUrl);
    try {
      await (hasPulumiCli ? deployWithCli(broker, vhost, management) : deployWithMocks(broker, vhost, management));
    } finally {
      await dispose();
    }
  });
});

test.each(brokers)("RabbitMQ $fullVersion is asked before the first resource", async (broker) => {
  const endpoint = new URL(broker.managementUrl).origin;
  const { user, password } = credentialsOf(broker.managementUrl);
  const ask = async (version: string, as: { password: string; endpoint: string }, vhost = "/"): Promise<Answer> => {
    let found: Promise<Answer> | undefined;
    await runProgram(async () => {
      const target = checkTarget<"rabbitmq">({ broker: "rabbitmq", version });
      if (!target.ok) throw new Error("the target is refused");
      found = askBroker(new Provider("broker", { ...as, username: user }), target.value, vhost);
    });
    if (found === undefined) throw new Error("the program did not run");
    return found;
  };
  const codes = async (...asked: Parameters<typeof ask>): Promise<readonly string[]> =>
    (await ask(...asked)).problems.map(({ code, message }) => `${code}: ${message}`);
  const own = { password, endpoint };
  const [series = ""] = /^\d+\.\d+/.exec(broker.fullVersion) ?? [];
  expect(await codes(series, own)).toEqual([]);
  expect(await codes(broker.fullVersion, own)).toEqual([]);
  expect(await codes("3.10", own)).toEqual([]);
  for (const newer of ["4.3.99", "4.3"].filter((each) => each !== series))
    expect(await codes(newer, own)).toEqual([
      `RD806: the target is rabbitmq@${newer}, and the broker is RabbitMQ ${broker.fullVersion}`,
    ]);
  expect((await ask(series, own)).present).toContain("amq.direct");
  const { problems, present } = await ask("4.3.99", own, "no such virtual host");
  expect([problems.map(({ code }) => code), present]).toEqual([["RD806"], null]);
  expect(await codes(series, { ...own, password: "wrong" })).toEqual([
    "RD408: the broker refuses the user name or the password (401)",
  ]);
  expect(await codes(series, { ...own, endpoint: "http://127.0.0.1:1" }), "the provider reports it").toEqual([]);
});

async function deployWithMocks(broker: Broker, vhost: string, management: Management): Promise<void> {
  const config = { ...configOf(broker, vhost), "redeliver:password": credentialsOf(broker.managementUrl).password };
  const run = await runProgram(stackProgram, { config, secretKeys: ["redeliver:password"] });
  expect(run.error).toBeUndefined();
  await applyResources(management, run.resources);
  await expectOnBroker(management, vhost, topologyOf(shop, broker.fullVersion));
  const before = await management.exportDefinitions(vhost);
  await applyResources(management, run.resources);
  expect(await management.exportDefinitions(vhost)).toEqual(before);
  await expectOnBroker(management, vhost, topologyOf(shop, broker.fullVersion));
  await expectRetry(management, broker, vhost);
}

async function deployWithCli(broker: Broker, vhost: string, management: Management): Promise<void> {
  const { stack, pulumi, remove } = await createCliStack(broker, vhost);
  try {
    const password = "redeliver:password";
    const right = await stack.getConfig(password);
    await stack.setConfig(password, { value: "wrong", secret: true });
    const refused = await stack.up().catch(String);
    expect(refused).toMatch(/RetryTopology shop \*\*creating failed.*RD408/s);
    expect(refused).not.toContain(":Queue");
    await expect(stack.preview()).rejects.toThrow(/RD408/);
    await stack.setConfig(password, right);
    await stack.up();
    await expectOnBroker(management, vhost, topologyOf(shop, broker.fullVersion));
    await stack.up({ expectNoChanges: true });
    await stack.refresh({ expectNoChanges: true });
    await expectRetry(management, broker, vhost);
    await expect(stack.destroy(), "what messages need is protected").rejects.toThrow(/protected/);
    await expectOnBroker(management, vhost, topologyOf(shop, broker.fullVersion));
    await pulumi("state", "unprotect", "--all", "--yes", "--stack", stack.name);
    await stack.destroy();
    // Queues stay on the broker, with the exchanges, bindings and policies that their messages need.
    await expectOnBroker(management, vhost, topologyOf(shop, broker.fullVersion));
    const kept = (await management.queues(vhost)).filter((queue) => (queue.messages_dlx ?? 0) > 0);
    expect(namesOf(kept), "no dead letter is kept back").toEqual([]);
    await stack.up();
    await stack.up({ expectNoChanges: true });
  } finally {
    await remove();
  }
}

/** Compares the broker's resources and effective policies with the compiled ones. */
async function expectOnBroker(management: Management, vhost: string, topology: Topology): Promise<void> {
  const path = encodeURIComponent(vhost);
  const exchanges = await management.get<readonly JsonObject[]>(`exchanges/${path}`);
  expect(
    sorted(exchanges.filter(({ name }) => name !== "" && !String(name).startsWith("amq.")).map(exchangeOf)),
  ).toEqual(
    sorted(
      topology.exchanges.map(({ name, kind, durable, autoDelete, arguments: table }) => ({
        name,
        kind,
        durable,
        autoDelete,
        table,
      })),
    ),
  );
  const queues = await management.queues(vhost);
  expect(
    sorted(
      queues.map(({ name, durable, auto_delete, arguments: table }) => ({
        name,
        durable,
        autoDelete: auto_delete,
        table,
      })),
    ),
  ).toEqual(
    sorted(
      topology.queues.map(({ name, durable, autoDelete, arguments: table }) => ({ name, durable, autoDelete, table })),
    ),
  );
  const bindings = await management.get<readonly JsonObject[]>(`bindings/${path}`);
  expect(sorted(bindings.filter(({ source }) => source !== "").map(bindingOf))).toEqual(
    sorted(
      topology.bindings.map(({ source, destination, destinationKind, routingKey, arguments: table }) => ({
        source,
        destination,
        destinationKind,
        routingKey,
        table,
      })),
    ),
  );
  const policies = (await management.policies(vhost)).map(({ name, definition }) => ({ name, definition }));
  expect(sorted(policies)).toEqual(sorted(topology.policies.map(({ name, definition }) => ({ name, definition }))));
  const ofExchanges = new Set(topology.policies.flatMap(({ name, applyTo }) => (applyTo === "exchanges" ? name : [])));
  // The broker lists a queue's effective policy with its statistics, every five seconds. It lists only the names of
  // those of exchanges.
  const wanted = sorted(
    topology.policies.map(({ name, definition }) =>
      ofExchanges.has(name) ? { name, policy: name } : { name, policy: name, definition },
    ),
  );
  const inEffect = async (): Promise<unknown> => {
    const queues = await management.queues(vhost);
    const found = await management.get<readonly JsonObject[]>(`exchanges/${path}`);
    return sorted([
      ...queues.map(({ name, policy, effective_policy_definition: definition }) => ({ name, policy, definition })),
      ...found.flatMap(({ name, policy }) => (policy === undefined ? [] : [{ name, policy }])),
    ]);
  };
  await expect.poll(inEffect, { timeout: 30_000, interval: 250 }).toEqual(wanted);
}

function exchangeOf(exchange: JsonObject): object {
  const { name, type, durable, auto_delete: autoDelete, arguments: table } = exchange;
  return { name, kind: type, durable, autoDelete, table };
}

function bindingOf(binding: JsonObject): object {
  const { source, destination, destination_type: destinationKind, routing_key: routingKey, arguments: table } = binding;
  return { source, destination, destinationKind, routingKey, table };
}

/** A message published to the source reaches its consumer. The contract alone brings it back as the second attempt. */
async function expectRetry(management: Management, broker: Broker, vhost: string): Promise<void> {
  const compiled = compile(shop, { broker: "rabbitmq", version: broker.fullVersion });
  const contract = compiled.ok ? compiled.value.contracts.find((each) => each.consumer === "billing") : undefined;
  if (contract === undefined) throw new Error("billing does not compile");
  const url = `${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${encodeURIComponent(vhost)}`;
  const consumer = await drive({ url, contract, decide: ({ attempt }) => (attempt === 1 ? "transient" : "success") });
  try {
    const message = {
      properties: { message_id: "order" },
      routing_key: "order.cancelled",
      payload: "a test order",
      payload_encoding: "string",
    };
    const path = `exchanges/${encodeURIComponent(vhost)}/shop.orders/publish`;
    const { routed } = await management.post<{ routed: boolean }>(path, message);
    expect(routed).toBe(true);
    await expect.poll(() => consumer.seen.map((each) => each.attempt), { timeout: 20_000 }).toEqual([1, 2]);
  } finally {
    await consumer.stop();
  }
}

function sorted(values: readonly object[]): object[] {
  return values.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Returns the same text for the same content, in any order of the keys. */
function keyOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${key}:${keyOf(each)}`).join(",")}}`;
}

function namesOf(resources: readonly { readonly name: string }[]): string[] {
  return resources.map(({ name }) => name).toSorted();
}
