import amqplib from "amqplib";
import type { ChannelModel } from "amqplib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { billingUnder } from "../support/consume/billing-under.ts";
import { type Start, start } from "../support/consume/start.ts";
import { startTlsBroker } from "../support/consume/tls-broker.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { sendJson, startFakeBroker } from "../support/fake-broker.ts";
import { createManagement } from "../support/management.ts";
import { strategyCases } from "../support/live.ts";
import { oneForEachProtocol } from "../support/strategies.ts";
import { createLimitedUser, type LimitedUser } from "../support/limited-user.ts";

function declaration(strategy: "waits" | "deferred"): unknown {
  const shop = billingUnder(strategy, { retry: { attempts: 3, backoff: { kind: "constant", delay: "50ms" } } });
  return { ...shop, consumers: { ...shop.consumers, cache: { from: { orders: "all" }, delivery: "every-instance" } } };
}

const cases = strategyCases(oneForEachProtocol);

describe.each(cases)("refusals of a starting consumer: $name", ({ broker, strategy }) => {
  const management = createManagement(broker.managementUrl);
  let system: DeployedSystem;
  let user: LimitedUser;
  beforeAll(async () => {
    system = await deploy(broker, declaration(strategy), strategy);
    user = await createLimitedUser(broker, system.vhost, { tag: null, configure: ".*", write: ".*", read: ".*" });
  });
  afterAll(async () => {
    await user.remove();
    await system.dispose();
  });

  /** Starts without the management API, which would find some of the problems earlier. */
  const begin = (
    url = system.url,
    consumer = "billing",
    tls?: { readonly ca: string },
    concurrency = 10,
  ): Promise<Start> =>
    start(
      { ...system, consumer, strategy: consumer === "billing" ? strategy : "auto" },
      { concurrency, connection: { url, ...(tls === undefined ? {} : { tls }) } },
    );

  /** Deletes the work queue, runs a function, and makes the queue again. */
  const withoutWorkQueue = async (run: (connection: ChannelModel) => Promise<void>): Promise<void> => {
    const queue = system.compiled.topology.queues.find(({ name }) => name === "shop.billing") ?? expect.unreachable();
    await system.channel.deleteQueue(queue.name);
    const other = await amqplib.connect(system.url);
    try {
      await run(other);
    } finally {
      await other.close();
    }
    const again = await amqplib.connect(system.url);
    const channel = await again.createChannel();
    await channel.deleteQueue(queue.name);
    await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
    await channel.bindQueue(queue.name, "shop.orders", "#");
    await again.close();
  };

  const limit = (name: string, value: number): Promise<void> =>
    management.put(`user-limits/${user.name}/${name}`, { value });

  test("a queue that belongs to another connection alone", async () => {
    await withoutWorkQueue(async (other) => {
      const channel = await other.createChannel();
      await channel.assertQueue("shop.billing", { exclusive: true, durable: false });
      const { codes, text } = await begin();
      expect(codes).toEqual(["RD821"]);
      expect(text).toContain("another connection has the queue shop.billing for itself alone");
    });
  });

  test("a classic queue whose consumer is exclusive", async () => {
    await withoutWorkQueue(async (other) => {
      const channel = await other.createChannel();
      await channel.assertQueue("shop.billing", { durable: true, arguments: { "x-queue-type": "classic" } });
      await channel.consume("shop.billing", () => undefined, { exclusive: true });
      // A consumer that can read the queue's type gets this code instead: it is no quorum queue.
      expect((await begin()).codes).toEqual(["RD808"]);
      if (strategy === "deferred") return;
      const permissions = `permissions/${encodeURIComponent(system.vhost)}/${user.name}`;
      await management.put(permissions, { configure: "^$", write: ".*", read: ".*" });
      const least = await begin(user.amqpUrl);
      await management.put(permissions, { configure: ".*", write: ".*", read: ".*" });
      expect(least.codes).toEqual(["RD821"]);
    });
  });

  test("a compiled quorum queue has no exclusive consumer, and lets one wait for an active one", async () => {
    const other = await amqplib.connect(system.url);
    const channel = await other.createChannel();
    await channel.consume("shop.billing", () => undefined, { exclusive: true });
    expect((await begin()).codes).toEqual([]);
    await other.close();
  });

  test("no further connection, for the virtual host or for the user", async () => {
    const limits = `vhost-limits/${encodeURIComponent(system.vhost)}/max-connections`;
    await management.put(limits, { value: 0 });
    const full = await begin();
    await management.delete(limits);
    await limit("max-connections", 0);
    const fullUser = await begin(user.amqpUrl);
    await limit("max-connections", -1);
    for (const { codes, text } of [full, fullUser]) {
      expect(codes).toEqual(["RD807"]);
      expect(text).toContain("or a limit of connections is reached");
    }
    expect((await begin(user.amqpUrl)).codes).toEqual([]);
  });

  test.runIf(strategy === "deferred")("no further connection, when the handlers need more than one", async () => {
    await limit("max-connections", 1);
    const { codes, text } = await begin(user.amqpUrl, "billing", undefined, 63);
    await limit("max-connections", -1);
    expect(codes).toEqual(["RD807"]);
    expect(text).toContain("or a limit of connections is reached");
    expect((await begin(user.amqpUrl, "billing", undefined, 63)).codes).toEqual([]);
  });

  test("too few channels: the refusal comes before the first message that needs the second one", async () => {
    await limit("max-channels", 1);
    const byUser = await begin(user.amqpUrl);
    await limit("max-channels", -1);
    const byUrl = await begin(`${user.amqpUrl}?channelMax=1`);
    // AMQP 1.0 has sessions instead of channels, and its contracts publish nothing.
    expect([byUser.codes, byUrl.codes]).toEqual(strategy === "deferred" ? [[], ["RD802"]] : [["RD822"], ["RD822"]]);
    if (strategy === "deferred") return;
    expect(byUser.text).toContain(`the user ${user.name} may have 1 channels in all`);
    expect((await begin(`${user.amqpUrl}?channelMax=2`)).codes).toEqual([]);
  });

  test.runIf(strategy === "waits")("no further queue, for an instance with a queue of its own", async () => {
    const limits = `vhost-limits/${encodeURIComponent(system.vhost)}/max-queues`;
    await management.put(limits, { value: 1 });
    const { codes, text } = await begin(system.url, "cache");
    await management.delete(limits);
    expect(codes).toEqual(["RD822"]);
    expect(text).toContain(`the virtual host ${system.vhost} may have 1 queues`);
    expect((await begin(system.url, "cache")).codes).toEqual([]);
  });

  test("TLS on a plain port, plain AMQP on a TLS port, and unknown certificates: each refusal names the place to check", async () => {
    const tls = await startTlsBroker(system.url, false);
    const asking = await startTlsBroker(system.url, true);
    const plain = tls.url.replace("amqps:", "amqp:");
    const missing = await Promise.all([
      begin(system.url.replace("amqp:", "amqps:")),
      begin(plain),
      begin(tls.url),
      begin(tls.url.replace("localhost", "127.0.0.1"), "billing", { ca: tls.ca }),
      begin(asking.url, "billing", { ca: asking.ca }),
    ]);
    expect(missing.map(({ codes }) => codes)).toEqual(missing.map(() => ["RD804"]));
    const [wrongPort, noTls, unknown, otherName, noClient] = missing.map(({ text }) => text);
    expect(wrongPort).toContain("the program that answers does not speak TLS");
    expect(noTls).toContain("5671 for amqps:");
    for (const text of [unknown, otherName, noClient]) expect(text).toContain("check the certificates");
    expect((await begin(tls.url, "billing", { ca: tls.ca })).codes).toEqual([]);
    await Promise.all([tls.close(), asking.close()]);
  });

  test("a server that is no broker gives no refusal about permissions", async () => {
    const web = await startFakeBroker((_, response) => sendJson(response, {}));
    const url = new URL(system.url);
    url.port = String(web.port);
    expect((await begin(url.href)).codes).toEqual(["RD804"]);
    await web.close();
  });

  test("after all refusals no consumer and no connection is left", async () => {
    // The connection of the test itself.
    await until(30_000, async () => {
      const connections = await management.get<readonly { readonly vhost: string }[]>("connections");
      return connections.filter(({ vhost }) => vhost === system.vhost).length === 1;
    });
    // A queue drops a consumer a moment after its connection has closed.
    await until(30_000, async () => (await system.channel.checkQueue("shop.billing")).consumerCount === 0);
  });
});
