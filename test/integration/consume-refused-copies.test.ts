import { randomUUID } from "node:crypto";

import amqplib from "amqplib";
import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { Handle } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { type DeployedSystem, until } from "../support/deployed-system.ts";
import { type Broker, brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { publishesCopies, strategiesOn } from "../support/strategies.ts";
import { shopWith } from "../support/examples.ts";

type Strategy = "staged" | "waits";

/** The delay is so long that no waiting message comes back while a test looks at it. */
const patient = { kind: "constant", delay: "1h" };
const quick = { kind: "constant", delay: "50ms" };

function declaration(backoff: unknown): unknown {
  return shopWith({ billing: { from: { orders: "all" }, retry: { attempts: 3, backoff } } });
}

describe.concurrent.each(brokers().map((broker) => ({ broker, name: broker.version })))("on $name", ({ broker }) => {
  const publishing = strategiesOn(broker.version).filter(publishesCopies);
  const { deployed, consumed } = liveStage(broker);
  const started = async (strategy: Strategy, backoff: unknown, handler: Handle) => {
    const system = await deployed(declaration(backoff), strategy);
    const billing = await consumed({ ...system, options: { breaker: false } }, handler);
    return { system, billing };
  };

  test.for([
    ...publishing.map((strategy) => ({ strategy, what: "dead queue", ending: "permanent" }) as const),
    { strategy: "waits", what: "wait queue", ending: "transient" } as const,
  ])(
    "a full $what refuses the copy: the message stays unacknowledged until there is room: $strategy",
    async ({ strategy, ending }) => {
      const { system, billing } = await started(strategy, patient, () => {
        if (ending === "permanent") throw permanent("NEVER");
        throw new Error("again");
      });
      const full = system.compiled.topology.queues.find(
        ({ role }) => role === (ending === "permanent" ? "dead" : "wait"),
      );
      const queue = full?.name ?? "";
      const others = await fill(broker, system, queue);
      await system.publish(["a"]);
      await until(30_000, () => billing.count("settle-failed") >= 2);
      expect(billing.events.find(({ kind }) => kind === "settle-failed")).toMatchObject({
        error: { message: "the broker refused the copy" },
      });
      expect(billing.running.health()).toMatchObject({ handling: 1, waiting: 0 });
      // Taking the messages out makes room in the queue.
      const before = await idsIn(system, queue);
      await until(60_000, () => billing.count("settled") > 0);
      await billing.running.stop();
      expect(billing.runs).toHaveLength(1);
      expect([...before, ...(await idsIn(system, queue))]).toEqual([...others, "a"]);
      expect(await system.drain("shop.billing")).toEqual([]);
    },
  );

  test("a dead queue that stays full refuses the copy: the consumer returns the message when it stops", async () => {
    const { system, billing } = await started("waits", patient, () => {
      throw permanent("NEVER");
    });
    const others = await fill(broker, system, "shop.billing.dead");
    await system.publish(["a"]);
    await until(30_000, () => billing.count("settle-failed") > 0);
    await billing.running.stop("50ms");
    expect(await idsIn(system, "shop.billing.dead")).toEqual(others);
    expect(await idsIn(system, "shop.billing")).toEqual(["a"]);
  });

  test.for(publishing)(
    "a copy of another user's message does not have that user's id, which the broker would refuse: %s",
    async (strategy) => {
      const { system, billing } = await started(strategy, quick, ({ id, attempt }) => {
        if (id === "dies" || attempt === 2) throw permanent("NEVER");
        throw new Error("again");
      });
      const publisher = await otherUser(broker, system);
      try {
        const connection = await amqplib.connect(publisher.url);
        const channel = await connection.createConfirmChannel();
        for (const messageId of ["dies", "fails, then dies"])
          channel.publish("shop.orders", "order.placed", Buffer.from("1"), {
            messageId,
            persistent: true,
            userId: publisher.name,
          });
        await channel.waitForConfirms();
        await connection.close();
        await until(30_000, () => billing.count("settled") === 3);
        await billing.running.stop();
        const letters = await system.drain("shop.billing.dead");
        expect(letters.map(({ properties }) => String(properties.messageId)).toSorted()).toEqual([
          "dies",
          "fails, then dies",
        ]);
        expect(letters.map(({ properties }) => properties.userId as unknown)).toEqual([undefined, undefined]);
        expect(billing.kinds()).not.toContain("settle-failed");
        await expect(publishAs(system, publisher.name)).rejects.toThrow(/user_id property set to/);
      } finally {
        await publisher.remove();
      }
    },
  );
});

/**
 * Sets a length limit on a queue and fills it. A consumer that starts only then reports that the policy differs from
 * the compiled one.
 *
 * @returns the ids of the messages in the queue
 */
async function fill(broker: Broker, system: DeployedSystem, queue: string): Promise<readonly string[]> {
  const management = createManagement(broker.managementUrl);
  const policy = (await management.policies(system.vhost)).find(({ name }) => name === queue);
  if (policy === undefined) throw new Error(`${queue} has no policy`);
  await management.putPolicy(system.vhost, queue, { ...policy, definition: { ...policy.definition, "max-length": 1 } });
  // The limit holds only after a moment, and a quorum queue accepts a few messages more.
  const taken: string[] = [];
  await until(30_000, async () => {
    const id = `other ${taken.length}`;
    const isTaken = await new Promise<boolean>((resolve) => {
      system.channel.publish("", queue, Buffer.from("1"), { messageId: id, persistent: true }, (error) =>
        resolve(error === null),
      );
    });
    if (isTaken) taken.push(id);
    return !isTaken;
  });
  return taken;
}

async function idsIn(system: DeployedSystem, queue: string): Promise<readonly string[]> {
  return (await system.drain(queue)).map(({ properties }) => String(properties.messageId));
}

/** Makes a user with all rights in the system's virtual host. */
async function otherUser(
  broker: Broker,
  system: DeployedSystem,
): Promise<{ readonly name: string; readonly url: string; readonly remove: () => Promise<void> }> {
  const management = createManagement(broker.managementUrl);
  const name = `publisher-${randomUUID()}`;
  await management.put(`users/${name}`, { password: name, tags: "" });
  await management.putPermissions(system.vhost, name);
  const url = new URL(system.url);
  url.username = name;
  url.password = name;
  return { name, url: url.href, remove: () => management.delete(`users/${name}`) };
}

/** Publishes as the system's own user, with another user's id. */
async function publishAs(system: DeployedSystem, userId: string): Promise<void> {
  const connection = await amqplib.connect(system.url);
  try {
    const channel = await connection.createConfirmChannel();
    const closed = new Promise<never>((_, reject) => channel.on("error", reject));
    channel.publish("shop.orders", "order.placed", Buffer.from("1"), { userId });
    await Promise.race([channel.waitForConfirms(), closed]);
  } finally {
    await connection.close();
  }
}
