import { randomUUID } from "node:crypto";

import amqplib from "amqplib";
import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { ConsumedSystem, consumeFrom } from "../support/consume/consumed.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import type { DeployedSystem } from "../support/deployed-system.ts";
import { until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import type { Broker } from "../support/live.ts";
import { createManagement } from "../support/management.ts";

type Strategy = "staged" | "waits";

const source = { exchange: "shop.orders", routingKey: "order.placed" };
/** Nothing that waits comes back while a test looks at it. */
const patient = { kind: "constant", delay: "1h" };
const quick = { kind: "constant", delay: "50ms" };

function declaration(backoff: unknown): unknown {
  return {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { from: { orders: "all" }, retry: { attempts: 3, backoff } } },
  };
}

describe.concurrent.each(brokers().map((broker) => ({ broker, name: broker.version })))("on $name", ({ broker }) => {
  const { deployed, consumed } = liveStage(broker);
  const started = async (
    strategy: Strategy,
    backoff: unknown,
    handler: Parameters<typeof consumeFrom>[2],
  ): Promise<{ system: DeployedSystem; billing: ConsumedSystem }> => {
    const declared = declaration(backoff);
    const system = await deployed(declared, strategy);
    const options = { breaker: false } as const;
    const input = { broker, declaration: declared, consumer: "billing", strategy, options };
    const billing = await consumed(system, input, handler);
    return { system, billing };
  };

  test.for([
    { strategy: "staged", what: "dead queue", ending: "permanent" },
    { strategy: "waits", what: "dead queue", ending: "permanent" },
    { strategy: "waits", what: "wait queue", ending: "transient" },
  ] as const)(
    "a $what that is full refuses the copy: nothing is acknowledged, and it goes on when there is room: $strategy",
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
      await system.publish(["a"], source);
      await until(30_000, () => billing.events.filter(({ kind }) => kind === "settle-failed").length >= 2);
      expect(billing.events.find(({ kind }) => kind === "settle-failed")).toMatchObject({
        error: { message: "the broker refused the copy" },
      });
      expect(billing.running.health()).toMatchObject({ handling: 1, waiting: 0 });
      // Whoever takes them makes room.
      const before = await idsIn(system, queue);
      await until(60_000, () => billing.events.some(({ kind }) => kind === "settled"));
      await billing.running.stop();
      expect(billing.runs).toHaveLength(1);
      expect([...before, ...(await idsIn(system, queue))]).toEqual([...others, "a"]);
      expect(await system.drain("shop.billing")).toEqual([]);
    },
  );

  test("a full dead queue refuses the copy to the very end: the message is handed back when the consumer stops", async () => {
    const { system, billing } = await started("waits", patient, () => {
      throw permanent("NEVER");
    });
    const others = await fill(broker, system, "shop.billing.dead");
    await system.publish(["a"], source);
    await until(30_000, () => billing.events.some(({ kind }) => kind === "settle-failed"));
    await billing.running.stop("50ms");
    expect(await idsIn(system, "shop.billing.dead")).toEqual(others);
    expect(await idsIn(system, "shop.billing")).toEqual(["a"]);
  });

  test.for(["staged", "waits"] as const)(
    "a copy of another user's message does not carry that user's id, which the broker would refuse: %s",
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
          channel.publish(source.exchange, source.routingKey, Buffer.from("1"), {
            messageId,
            persistent: true,
            userId: publisher.name,
          });
        await channel.waitForConfirms();
        await connection.close();
        await until(30_000, () => billing.events.filter(({ kind }) => kind === "settled").length === 3);
        await billing.running.stop();
        const letters = await system.drain("shop.billing.dead");
        expect(letters.map(({ properties }) => String(properties.messageId)).toSorted()).toEqual([
          "dies",
          "fails, then dies",
        ]);
        expect(letters.map(({ properties }) => properties.userId as unknown)).toEqual([undefined, undefined]);
        expect(billing.events.map(({ kind }) => kind)).not.toContain("settle-failed");
        await expect(publishAs(system, publisher.name)).rejects.toThrow(/user_id property set to/);
      } finally {
        await publisher.remove();
      }
    },
  );
});

/**
 * Lets a queue hold but a few messages, and fills it to that. A consumer that begins only then says that the policy is not what was compiled.
 *
 * @returns the ids of what is in it
 */
async function fill(broker: Broker, system: DeployedSystem, queue: string): Promise<readonly string[]> {
  const management = createManagement(broker.managementUrl);
  const policy = (await management.policies(system.vhost)).find(({ name }) => name === queue);
  if (policy === undefined) throw new Error(`${queue} has no policy`);
  await management.putPolicy(system.vhost, queue, {
    ...policy,
    definition: { ...policy.definition, "max-length": 1 },
  });
  // The limit is in force a moment later, and a quorum queue takes a few more.
  const taken: string[] = [];
  await until(30_000, async () => {
    const id = `other ${taken.length}`;
    const isTaken = await new Promise<boolean>((resolve) => {
      system.channel.publish(queue, "", Buffer.from("1"), { messageId: id, persistent: true }, (error) =>
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

/** Makes a user who may do everything in the system's virtual host. */
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

/** Publishes as the system's own user, with somebody's id. */
async function publishAs(system: DeployedSystem, userId: string): Promise<void> {
  const connection = await amqplib.connect(system.url);
  try {
    const channel = await connection.createConfirmChannel();
    const closed = new Promise<never>((_, reject) => channel.on("error", reject));
    channel.publish(source.exchange, source.routingKey, Buffer.from("1"), { userId });
    await Promise.race([channel.waitForConfirms(), closed]);
  } finally {
    await connection.close();
  }
}
