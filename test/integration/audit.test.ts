import { randomUUID } from "node:crypto";
import amqplib from "amqplib";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokers as auditors } from "../../src/brokers/index.ts";
import { brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { docker } from "../support/broker-images.ts";
import { deploy } from "../support/deployed-system.ts";
import { oneConsumer } from "../support/examples.ts";
import { type Broker, brokers, createVhost } from "../support/live.ts";
import { createManagement, type Management } from "../support/management.ts";
import { codesOf, type Read, topologyIn, withoutBuiltIn } from "../support/read-topology.ts";

const { auditor } = auditors.rabbitmq;
type Topology = ReturnType<typeof brokerTopologyOf>;

/** Sorts the lists, because sources return them in any order. */
function sorted({ exchanges, queues, bindings, policies }: Topology): object {
  const byText = (list: readonly object[]): object[] =>
    list.toSorted((a, b) => (stable(a) < stable(b) ? -1 : 1)).map((each) => JSON.parse(stable(each)) as object);
  return {
    exchanges: byText(exchanges),
    queues: byText(queues),
    // Only a running broker shows the name that it gave to a binding.
    bindings: byText(bindings.map((binding) => ({ ...binding, propertiesKey: undefined }))),
    policies: byText(policies),
  };
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const readUrl = async (managementUrl: string, vhost: string | null = null): Promise<Read> =>
  readLiveBroker(`${managementUrl}${vhost === null ? "" : `/${encodeURIComponent(vhost)}`}`, auditor.live, {});

/** Makes a virtual host with everything that an export can hold, under names of every kind. */
async function populatedVhost(broker: Broker): Promise<{ readonly vhost: string; readonly management: Management }> {
  const { vhost, dispose } = await createVhost(broker);
  onTestFinished(dispose);
  const management = createManagement(broker.managementUrl);
  const durable = { durable: true, auto_delete: false };
  await management.declareExchange(vhost, "orders", {
    type: "topic",
    ...durable,
    arguments: { "alternate-exchange": "ü/注" },
  });
  await management.declareExchange(vhost, "ü/注", { type: "headers", ...durable, arguments: {} });
  await management.declareQueue(vhost, "work", {
    ...durable,
    arguments: { "x-queue-type": "quorum", "x-delivery-limit": "5", "x-dead-letter-exchange": "amq.fanout" },
  });
  await management.declareQueue(vhost, "plain", { ...durable, arguments: {} });
  await management.declareQueue(vhost, "stream", { ...durable, arguments: { "x-queue-type": "stream" } });
  const bind = async (source: string, destination: string, routingKey: string, args = {}): Promise<void> =>
    management.bind(vhost, { source, destination, destinationType: "queue", routingKey, arguments: args });
  await bind("orders", "work", "order.#");
  await bind("amq.fanout", "plain", "");
  await bind("ü/注", "plain", "", { "x-match": "any", number: 3, text: "3", flag: true });
  await management.bind(vhost, { source: "orders", destination: "ü/注", destinationType: "exchange", routingKey: "#" });
  const policy = { pattern: "^work$", "apply-to": "queues", priority: 1 };
  await management.putPolicy(vhost, "limits", { ...policy, definition: { "message-ttl": 60_000 } });
  await management.put(`operator-policies/${encodeURIComponent(vhost)}/ceiling`, {
    ...policy,
    definition: { "max-length": 1_000 },
  });
  return { vhost, management };
}

/** Makes a user with these tags and without rights in the virtual hosts. Returns its URL. */
async function userUrl(broker: Broker, tags: string, vhosts: readonly string[]): Promise<string> {
  const management = createManagement(broker.managementUrl);
  const user = `audit-${randomUUID()}`;
  // A password with every character that has a meaning in a URL.
  const password = "p@ss/wo:rd?#%41";
  await management.put(`users/${user}`, { password, tags });
  onTestFinished(async () => management.delete(`users/${user}`));
  for (const vhost of vhosts) {
    await management.put(`permissions/${encodeURIComponent(vhost)}/${user}`, {
      configure: "^$",
      write: "^$",
      read: "^$",
    });
  }
  return broker.managementUrl.replace(/\/\/[^@]*@/, `//${user}:${encodeURIComponent(password)}@`);
}

describe.each(brokers())("an audit of RabbitMQ $fullVersion", (broker) => {
  test("finds the same in the broker itself, in the export of one virtual host and in that of all", async () => {
    const { vhost, management } = await populatedVhost(broker);
    const live = topologyIn(await readUrl(broker.managementUrl, vhost), vhost);
    expect(live.queues.map(({ name, kind }) => [name, kind]).toSorted()).toEqual([
      ["plain", "classic"],
      ["stream", "stream"],
      ["work", "quorum"],
    ]);
    expect(live.policies.map(({ name, kind }) => [name, kind]).toSorted()).toEqual([
      ["ceiling", "operator"],
      ["limits", "user"],
    ]);
    expect(live.bindings).toHaveLength(4);
    const one = auditor.file.read(JSON.stringify(await management.exportDefinitions(vhost)));
    const all = auditor.file.read(JSON.stringify(await management.get("definitions")));
    expect(one.ok && one.value.brokerVersion).toBe(broker.fullVersion);
    expect(sorted(topologyIn(one, vhost))).toEqual(sorted(live));
    expect(sorted(topologyIn(all, vhost))).toEqual(sorted(live));
  });

  test.runIf(broker.containerId !== undefined)("finds the same in the file of rabbitmqctl", async () => {
    const { vhost } = await populatedVhost(broker);
    const command = "PATH=$PATH:/usr/lib/rabbitmq/bin rabbitmqctl --quiet export_definitions -";
    const text = await docker("exec", broker.containerId ?? "", "sh", "-c", command);
    const exported = topologyIn(auditor.file.read(text), vhost);
    expect(sorted(exported)).toEqual(sorted(topologyIn(await readUrl(broker.managementUrl, vhost), vhost)));
  });

  test("reads the compiled topology back from the broker", async () => {
    const system = await deploy(broker, oneConsumer(), "waits");
    onTestFinished(system.dispose);
    const live = topologyIn(await readUrl(broker.managementUrl, system.vhost), system.vhost);
    expect(sorted(withoutBuiltIn(live))).toEqual(sorted(brokerTopologyOf(system.compiled.topology)));
  });

  test("reads exclusive queues and internal exchanges, which an export leaves out", async () => {
    const { vhost, amqpUrl, dispose } = await createVhost(broker);
    onTestFinished(dispose);
    const management = createManagement(broker.managementUrl);
    const connection = await amqplib.connect(amqpUrl);
    onTestFinished(async () => connection.close());
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue("", { exclusive: true });
    await channel.assertExchange("inner", "direct", { internal: true });
    await channel.bindQueue(queue, "inner", "key");
    const live = await readUrl(broker.managementUrl, vhost);
    expect(topologyIn(live, vhost).queues.map(({ name }) => name)).toEqual([queue]);
    expect(topologyIn(live, vhost).exchanges.find(({ name }) => name === "inner")).toMatchObject({ kind: "direct" });
    expect(codesOf(live)).toEqual([]);
    const exported = auditor.file.read(JSON.stringify(await management.exportDefinitions(vhost)));
    // An export of 3.10 does not name its virtual host.
    const [only] = exported.ok ? exported.value.virtualHosts : [];
    expect([only?.topology.queues, only?.topology.bindings]).toEqual([[], []]);
    // From 4.2 on, the export keeps the bindings of exchanges and queues that it leaves out.
    expect(new Set(codesOf(exported))).toEqual(new Set(broker.version === "4.3" ? ["RD405"] : []));
  });
});

describe.each(brokers())("users of $fullVersion", (broker) => {
  test.for(["monitoring", "management", "policymaker"])(
    "the tag %s is enough, with a permission that allows nothing",
    async (tag) => {
      const { vhost } = await populatedVhost(broker);
      const url = await userUrl(broker, tag, [vhost]);
      const asAdministrator = sorted(topologyIn(await readUrl(broker.managementUrl, vhost), vhost));
      const one = await readUrl(url, vhost);
      expect(sorted(topologyIn(one, vhost))).toEqual(asAdministrator);
      // The broker shows parameters to a policymaker alone.
      expect(one.ok && one.value.virtualHosts[0]?.shovels).toEqual(tag === "policymaker" ? [] : undefined);
      const all = await readUrl(url);
      expect(sorted(topologyIn(all, vhost))).toEqual(asAdministrator);
      expect(all.ok && all.value.virtualHosts.map(({ name }) => name)).toEqual([vhost]);
      // A user with the tag `monitoring` sees the names of the other virtual hosts, so the audit of all may see them
      // too.
      expect(codesOf(all)).toEqual(tag === "monitoring" ? ["RD409"] : []);
    },
  );

  test.for(["monitoring", "management"])(
    "without a permission, a user with the tag %s is refused, and the fix names it",
    async (tag) => {
      const { vhost } = await populatedVhost(broker);
      const url = await userUrl(broker, tag, []);
      for (const read of [await readUrl(url), await readUrl(url, vhost)]) {
        expect(codesOf(read)).toEqual(["RD408"]);
        expect(JSON.stringify(read)).toContain("set_permissions");
      }
    },
  );

  test("a missing tag, a wrong password and an unknown virtual host give different refusals", async () => {
    const { vhost } = await populatedVhost(broker);
    const untagged = await readUrl(await userUrl(broker, "", [vhost]), vhost);
    const wrong = await readUrl(broker.managementUrl.replace("guest:guest", "guest:wrong"));
    const unknown = await readUrl(broker.managementUrl, "nowhere");
    expect([untagged, wrong, unknown].map(codesOf)).toEqual([["RD408"], ["RD408"], ["RD408"]]);
    expect(JSON.stringify(untagged)).toContain("set_user_tags");
    expect(JSON.stringify(wrong)).toContain("user name or the password");
    expect(JSON.stringify(unknown)).toContain("there is no virtual host");
  });
});
