import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

import { describe, expect, test, vi } from "vitest";
import { permanent } from "redeliver/consume";

import { connectByAmqp10, endConnection } from "../../src/brokers/rabbitmq/run/amqp-1-0/connect.ts";
import { closeFrame10 } from "../support/consume/amqp-1-0-frames.ts";
import type { AmqpProxy, WireFrame } from "../support/consume/amqp-proxy.ts";
import { liveStage } from "../support/consume/live-stage.ts";
import { sleep, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { oneConsumer } from "../support/examples.ts";

const declaration = oneConsumer({
  from: { orders: "all" },
  protocol: "amqp-1.0",
  retry: { attempts: 8, backoff: { kind: "exponential", first: "20ms", factor: 2, max: "100ms", jitter: "20%" } },
});
const strategy = "deferred";
/** Bytes that are no frame, and a frame of an unknown type. */
const garbage = {
  "a frame whose header is wrong": Buffer.from([0, 0, 0, 9, 1, 0, 0, 0, 0]),
  "a frame of an unknown kind": Buffer.from([0, 0, 0, 9, 2, 0, 0, 0, 0xff]),
};

for (const broker of brokers())
  describe.runIf(broker.version === "4.3")(`faults by AMQP 1.0 on ${broker.version}`, () => {
    const { proxied, consumed } = liveStage(broker);
    const deployed = () => proxied(declaration, strategy);

    /** Cuts or replaces the next frame that matches, once. */
    const once = (
      proxy: AmqpProxy,
      isIt: (frame: WireFrame) => boolean,
      instead: "cut" | ((bytes: Buffer) => Buffer),
    ) => {
      let isDone = false;
      proxy.onFrame = (frame, bytes) => {
        if (isDone || !isIt(frame)) return "pass";
        isDone = true;
        return instead === "cut" ? "cut" : instead(bytes);
      };
      return () => isDone;
    };

    test.concurrent.for([
      { outcome: "acceptance", id: "succeeds", letters: 0 },
      { outcome: "delivery time", id: "fails once", letters: 0 },
      { outcome: "dead letter", id: "dies", letters: 1 },
    ])(
      "the connection is cut before the $outcome is sent: the message comes again, and none is lost or doubled",
      async ({ id, letters }) => {
        const { system, proxy } = await deployed();
        const isCut = once(proxy, ({ kind }) => kind === "disposition", "cut");
        const billing = await consumed({ ...system, url: proxy.url }, (run) => {
          if (run.id === "dies") throw permanent("NEVER");
          if (run.id === "fails once" && billing.runs.length < 3) throw new Error("again");
        });
        await system.publish([id]);
        const runs = id === "fails once" ? 3 : 2;
        await until(30_000, () => isCut() && billing.count("settled") === runs);
        await billing.running.stop();
        // The broker counts a delivery whose connection is gone, so the handler sees the next attempt.
        expect(billing.runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3].slice(0, runs));
        expect(billing.count("lost")).toBe(1);
        expect(await system.drain("shop.billing")).toEqual([]);
        const dead: unknown[] = [];
        await until(20_000, async () => {
          dead.push(...(await system.drain("shop.billing.dead")).map(({ properties }) => properties.messageId));
          return dead.length >= letters;
        });
        expect(dead).toEqual(letters === 0 ? [] : [id]);
      },
    );

    test.concurrent.for([
      { when: "lets the consumer in", kind: "opened", keepsAnswer: true },
      { when: "is asked for the queue", kind: "attached", keepsAnswer: false },
      { when: "has given the queue", kind: "attached", keepsAnswer: true },
    ] as const)(
      "the broker ends the connection with an error when it $when: that try has failed, and the next one follows",
      async ({ kind, keepsAnswer }) => {
        const { system, proxy } = await deployed();
        const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
        const close = closeFrame10("amqp:internal-error");
        const isClosed = once(
          proxy,
          (frame) => frame.kind === kind,
          (bytes) => (keepsAnswer ? Buffer.concat([bytes, close]) : close),
        );
        proxy.cutAll();
        await until(30_000, () => isClosed() && billing.kinds().includes("reconnected"));
        expect(billing.kinds().filter((each) => each !== "not-compared")).toEqual([
          "started",
          "lost",
          "reconnect-failed",
          "reconnected",
        ]);
        await system.publish(["a"]);
        await until(30_000, () => billing.count("settled") === 1);
        await billing.running.stop();
        await until(30_000, () => proxy.connections() === 0);
      },
    );

    // Not concurrent, because it listens to the console.
    test.for(Object.entries(garbage))(
      "%s instead of a message: the consumer reconnects, and nothing of it is on the console",
      async ([, bytes]) => {
        const { system, proxy } = await deployed();
        const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
        try {
          const billing = await consumed({ ...system, url: proxy.url }, () => undefined);
          const isSent = once(
            proxy,
            ({ kind }) => kind === "transfer",
            () => bytes,
          );
          await system.publish(["a"]);
          await until(30_000, () => isSent() && billing.count("settled") === 1);
          await billing.running.stop();
          expect(billing.count("lost")).toBe(1);
          expect(written).not.toHaveBeenCalled();
          expect(await system.drain("shop.billing")).toEqual([]);
        } finally {
          written.mockRestore();
        }
      },
    );

    // Not concurrent, because it looks for the sockets opened in the meantime.
    test("the socket ends in the turn in which outcomes are due: the messages come again, and the process goes on", async () => {
      const { system } = await deployed();
      const sockets: Socket[] = [];
      const seen = (event: unknown): void => void sockets.push((event as { readonly socket: Socket }).socket);
      subscribe("net.client.socket", seen);
      const billing = await consumed(system, async ({ id, attempt }) => {
        if (attempt > 1) return;
        if (id === "dies") throw permanent("NEVER");
        if (id === "fails") throw new Error("again");
        if (id !== "last") return;
        for (let turn = 0; turn < 100; turn++) await Promise.resolve();
        const port = Number(new URL(system.url).port);
        for (const socket of sockets) if (socket.remotePort === port) socket.destroy(new Error("cut"));
      });
      unsubscribe("net.client.socket", seen);
      const unsent = ["dies", "fails", "succeeds", "last"];
      await system.publish(unsent);
      await until(30_000, () => billing.runsOf("last").length === 2);
      await until(30_000, () => billing.running.health().handling === 0);
      expect(billing.count("lost")).toBe(1);
      await until(30_000, async () => {
        const ended = new Set((await system.drain("shop.billing.dead")).map(({ properties }) => properties.messageId));
        for (const event of billing.events)
          if (event.kind === "settled" && event.outcome === "success") ended.add(event.messageId);
        return unsent.filter((id) => id !== "dies").every((id) => ended.has(id));
      });
      await billing.running.stop();
      expect(await system.drain("shop.billing")).toEqual([]);
    });

    test.concurrent("an error in the turn that ends a connection reaches no listener, and ends no process", async () => {
      const { system } = await deployed();
      const connection = await connectByAmqp10({ url: system.url, withinMs: 30_000 }, null, () => undefined);
      const { socket } = connection as unknown as { readonly socket: Socket };
      socket.destroy(new Error("cut"));
      await endConnection(connection, 0);
      await sleep(50);
      expect(socket.closed).toBe(true);
    });

    test.concurrent("a silent broker does not delay the stop, and gets the messages back", async () => {
      const { system, proxy } = await deployed();
      const billing = await consumed({ ...system, url: proxy.url }, () => sleep(60_000));
      await system.publish(["a", "b"]);
      await until(30_000, () => billing.runs.length === 2);
      proxy.isSilent = true;
      await billing.running.stop("100ms");
      expect(billing.running.health()).toMatchObject({ state: "stopped", handling: 0, waiting: 0 });
      await until(30_000, () => proxy.connections() === 0);
      const back = new Set<unknown>();
      await until(30_000, async () => {
        for (const { properties } of await system.drain("shop.billing")) back.add(properties.messageId);
        return back.size === 2;
      });
    });

    test.concurrent("connections are cut again and again among messages with every outcome: each message ends at least once", async () => {
      const { system, proxy } = await deployed();
      const ids = Array.from({ length: 400 }, (_, index) => `m${index}`);
      const kindOf = (id: string): number => Number(id.slice(1)) % 5;
      const billing = await consumed(
        { ...system, url: proxy.url, options: { concurrency: 20, breaker: false } },
        ({ id, attempt }) => {
          if (kindOf(id) === 1) throw permanent("NEVER");
          if (kindOf(id) === 2 && attempt < 3) throw new Error("again");
          if (kindOf(id) === 3) throw new Error("always");
        },
      );
      let seen = 0;
      // Cuts at one in 300 frames of any kind.
      proxy.onFrame = () => {
        seen += 1;
        return seen % 300 === 0 ? "cut" : "pass";
      };
      await system.publish(ids);
      const dead: string[] = [];
      const isDone = (id: string): boolean =>
        dead.includes(id) ||
        billing.events.some(
          (event) => event.kind === "settled" && event.messageId === id && event.outcome === "success",
        );
      await until(90_000, async () => {
        dead.push(...(await system.drain("shop.billing.dead")).map(({ properties }) => String(properties.messageId)));
        return ids.every(isDone);
      });
      await billing.running.stop();
      // The outcome is atomic, so no letter is doubled. Each dead message failed, or lost its connection eight times.
      expect(dead).toHaveLength(new Set(dead).size);
      expect(ids.filter((id) => [1, 3].includes(kindOf(id)) && !dead.includes(id))).toEqual([]);
      expect(billing.count("reconnected")).toBeGreaterThanOrEqual(2);
    });
  });
