import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

import { describe, expect, test } from "vitest";
import { permanent } from "redeliver/consume";

import type { AmqpProxy, WireFrame } from "../support/consume/amqp-proxy.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  retry: { attempts: 4, backoff: { kind: "steps", delays: ["100ms", "200ms", "300ms"] } },
  crash: { deliveries: 20 },
});
const strategy = "waits";

describe.each(brokers().map((broker) => ({ broker, name: broker.version })))("faults on $name", ({ broker }) => {
  const { proxied, consumed } = liveStage(broker);
  const deployed = () => proxied(declaration, strategy);

  /** Cuts the connection once, at the next frame of a kind. */
  const cutAt = (proxy: AmqpProxy, kind: WireFrame["kind"]): (() => boolean) => {
    let isCut = false;
    proxy.onFrame = (frame) => {
      if (isCut || frame.kind !== kind) return "pass";
      isCut = true;
      return "cut";
    };
    return () => isCut;
  };

  test.concurrent.for([
    { what: "the copy", kind: "publish", mostCopies: 1 },
    { what: "the confirm of the copy", kind: "confirmed", mostCopies: 2 },
    { what: "the acknowledgement", kind: "ack", mostCopies: 2 },
  ] as const)(
    "the connection is cut before $what: the message is not lost, and doubled only if its copy had arrived",
    async ({ kind, mostCopies }) => {
      const { system, proxy } = await deployed();
      const billing = await consumed({ ...system, url: proxy.url }, () => {
        throw permanent("NEVER");
      });
      const isCut = cutAt(proxy, kind);
      await system.publish(["a"]);
      // The consumer makes the connection for copies anew with the next copy, and keeps the message in hand until then.
      const noticed = kind === "ack" ? "reconnected" : "settle-failed";
      const isNoticed = (): boolean => billing.count(noticed) > 0;
      // The message whose acknowledgement was cut is acknowledged on the new connection.
      await until(30_000, () => isCut() && isNoticed() && proxy.frames.some((frame) => frame.kind === "ack"));
      expect(billing.count("lost") > 0).toBe(kind === "ack");
      const dead = await system.drain("shop.billing.dead");
      expect(dead.length).toBeGreaterThanOrEqual(1);
      expect(dead.length).toBeLessThanOrEqual(mostCopies);
      expect(new Set(dead.map((each) => each.properties.messageId))).toEqual(new Set(["a"]));
      expect(await system.drain("shop.billing")).toEqual([]);
    },
  );

  // Not concurrent, because it looks for the sockets opened in the meantime.
  test("the socket ends in the turn in which acknowledgements are due: the messages come again, and the process goes on", async () => {
    const { system } = await deployed();
    const sockets: Socket[] = [];
    const seen = (event: unknown): void => void sockets.push((event as { readonly socket: Socket }).socket);
    subscribe("net.client.socket", seen);
    let isCut = false;
    const billing = await consumed(system, async ({ id }) => {
      if (id !== "last" || isCut) return;
      isCut = true;
      // The earlier handlers have ended by then. The consumer sends their acknowledgements only at the end of this
      // turn.
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      const port = Number(new URL(system.url).port);
      for (const socket of sockets) if (socket.remotePort === port) socket.destroy(new Error("cut"));
    });
    unsubscribe("net.client.socket", seen);
    const unsent = ["a", "b", "last"];
    await system.publish(unsent);
    await until(30_000, () => billing.runsOf("last").length === 2);
    await until(30_000, () => billing.count("settled") >= unsent.length);
    expect(billing.count("lost")).toBe(1);
    await billing.running.stop();
    for (const queue of ["shop.billing", "shop.billing.dead"]) expect(await system.drain(queue)).toEqual([]);
  });

  test.concurrent("the dead queue's binding is gone: the message stays unacknowledged, its handler does not run again, and it is dead once the binding is back", async () => {
    const { system } = await deployed();
    const billing = await consumed(system, () => {
      throw permanent("NEVER");
    });
    // Only after the start: a consumer refuses to start when a binding differs from the compiled ones.
    await system.channel.unbindQueue("shop.billing.dead", "shop.dead", "shop.billing");
    await system.publish(["a", "b"]);
    await until(30_000, () => billing.count("settle-failed") >= 4);
    expect(billing.runs).toHaveLength(2);
    expect(billing.running.health()).toMatchObject({ handling: 2 });
    await system.channel.bindQueue("shop.billing.dead", "shop.dead", "shop.billing");
    await until(30_000, () => billing.count("settled") === 2);
    expect(billing.runs).toHaveLength(2);
    expect((await system.drain("shop.billing.dead")).map((each) => each.properties.messageId).toSorted()).toEqual([
      "a",
      "b",
    ]);
  });

  test.concurrent("the dead queue's exchange is gone: the same, and the channel of the deliveries stays open", async () => {
    const { system } = await deployed();
    const billing = await consumed(system, ({ id }) => {
      if (id !== "fine") throw permanent("NEVER");
    });
    await system.channel.deleteExchange("shop.dead");
    await system.publish(["a", "fine"]);
    await until(30_000, () => billing.count("settle-failed") > 0);
    await until(30_000, () => billing.events.some((event) => event.kind === "settled" && event.messageId === "fine"));
    await system.channel.assertExchange("shop.dead", "direct", { durable: true });
    await system.channel.bindQueue("shop.billing.dead", "shop.dead", "shop.billing");
    await until(60_000, () => billing.events.some((event) => event.kind === "settled" && event.messageId === "a"));
    expect((await system.drain("shop.billing.dead")).map((each) => each.properties.messageId)).toEqual(["a"]);
    expect(billing.kinds()).not.toContain("lost");
  });

  test.concurrent("a handler that outlives its connection settles nothing on the next one", async () => {
    const { system, proxy } = await deployed();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const billing = await consumed({ ...system, url: proxy.url }, async (run) => {
      if (billing.runsOf(run.id).length === 1) await held;
      else await sleep(200);
    });
    await system.publish(["a"]);
    await until(30_000, () => billing.runs.length === 1);
    proxy.cutAll();
    await until(30_000, () => billing.runsOf("a").length === 2);
    release();
    await until(30_000, () => billing.count("settled") > 0);
    expect(billing.count("settle-dropped")).toBe(1);
    expect(billing.count("settled")).toBe(1);
    const acknowledged = (): number => proxy.frames.filter((frame) => frame.kind === "ack").length;
    await until(30_000, () => acknowledged() > 0);
    expect(acknowledged()).toBe(1);
  });

  test.concurrent("the work queue is gone for a while: one consumer takes messages when it is back, and none is left after a stop", async () => {
    const { system, proxy } = await deployed();
    const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
    const queue = system.compiled.topology.queues.find(({ name }) => name === "shop.billing");
    await system.channel.deleteQueue("shop.billing");
    await until(30_000, () => billing.count("reconnect-failed") >= 2);
    await system.channel.assertQueue("shop.billing", { durable: true, arguments: queue?.arguments });
    await system.channel.bindQueue("shop.billing", "shop.orders", "#");
    await until(30_000, () => billing.count("reconnected") > 0);
    await system.publish(["a"]);
    await until(30_000, () => billing.count("settled") > 0);
    expect(billing.count("lost")).toBe(1);
    expect((await system.channel.checkQueue("shop.billing")).consumerCount).toBe(1);
    // Copies use a second connection.
    expect(proxy.connections()).toBe(2);
    await billing.running.stop();
    await until(30_000, () => proxy.connections() === 0);
  });

  test.concurrent("while no connection succeeds, the pauses between tries grow, and a stop ends them", async () => {
    const { system, proxy } = await deployed();
    const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
    proxy.refuses = true;
    proxy.cutAll();
    await until(30_000, () => billing.count("reconnect-failed") >= 3);
    const pauses = billing.events.flatMap((event) => (event.kind === "reconnect-failed" ? [event.nextTryMs] : []));
    expect(pauses.slice(0, 3)).toEqual([500, 1_000, 2_000]);
    expect(billing.running.health()).toMatchObject({ state: "reconnecting", isTaking: false });
    await billing.running.stop();
    expect(billing.running.health().state).toBe("stopped");
  });

  test.concurrent("connections are cut again and again among messages with every outcome: each message ends at least once", async () => {
    const { system, proxy } = await deployed();
    const ids = Array.from({ length: 400 }, (_, index) => `m${index}`);
    const billing = await consumed(
      { ...system, url: proxy.url, options: { concurrency: 20, breaker: false } },
      ({ id, attempt }) => {
        const number = Number(id.slice(1));
        if (number % 5 === 1) throw permanent("NEVER");
        if (number % 5 === 2 && attempt < 3) throw new Error("again");
        if (number % 5 === 3) throw new Error("always");
      },
    );
    let seen = 0;
    // Cuts at one in 400 frames of any kind.
    proxy.onFrame = () => {
      seen += 1;
      return seen % 400 === 0 ? "cut" : "pass";
    };
    await system.publish(ids);
    const dead = new Set<string>();
    const isDone = (id: string): boolean =>
      dead.has(id) ||
      billing.events.some((event) => event.kind === "settled" && event.messageId === id && event.outcome === "success");
    await until(90_000, async () => {
      for (const letter of await system.drain("shop.billing.dead")) dead.add(String(letter.properties.messageId));
      return ids.every(isDone);
    });
    expect(
      ids.filter((id) => Number(id.slice(1)) % 5 === 1 || Number(id.slice(1)) % 5 === 3).filter((id) => !dead.has(id)),
    ).toEqual([]);
    expect(billing.count("reconnected")).toBeGreaterThanOrEqual(2);
  });
});
