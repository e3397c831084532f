import { waitUntil } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { startProcess } from "../support/servicebus/consumer-process.ts";
import { type Consuming, deployConsumed, type Handle, messageOf } from "../support/servicebus/consuming.ts";

const perKey = { retry: { attempts: 4, backoff: { kind: "immediate" } }, order: "per-key" };
/** The lock of an unreturned session lasts longer than any test. */
const longLock = { lock: "5m" } as const;
/** The first letter names the session. */
const inSession = (...bodies: readonly string[]) =>
  bodies.map((body) => ({ ...messageOf(body), sessionId: body.slice(0, 1) }));
const runsIn = ({ runs }: Pick<Consuming, "runs">): readonly string[] =>
  runs.map(({ body, attempt }) => `${body} ${attempt}`);
const succeed: Handle = () => undefined;

describe.concurrent("consume on Service Bus, with sessions", () => {
  test("messages of a session run one after the other, with retries in their place; sessions run in parallel", async (context) => {
    const system = await deployConsumed(context.onTestFinished, {
      retry: { attempts: 4, backoff: { kind: "immediate" } },
      order: "per-key",
    });
    let running = 0;
    let most = 0;
    const consumer = await system.consuming(
      async ({ body }, { number }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 30));
        running -= 1;
        if (body.endsWith("dies") || (body.endsWith("fails") && number < 3)) throw new Error("no");
      },
      { concurrency: 3, breaker: false },
    );
    const sessions = ["a", "b", "c", "d", "e"];
    const steps = ["1", "2 fails", "3", "4 dies", "5"];
    const messages = steps.flatMap((step) =>
      sessions.map((session) => ({ ...messageOf(`${session}${step}`), sessionId: session })),
    );
    await system.publish(...messages);
    const isDone = (): boolean => sessions.every((session) => consumer.attemptsOf(`${session}5`).length === 1);
    await waitUntil(isDone);
    const wanted = steps.flatMap((step) => {
      const count = step.endsWith("fails") ? 3 : step.endsWith("dies") ? 4 : 1;
      return Array.from({ length: count }, (_, index) => `${step} ${index + 1}`);
    });
    for (const session of sessions) {
      const runs = consumer.runs.filter(({ body }) => body.startsWith(session));
      expect(runs.map(({ body, attempt }) => `${body} ${attempt}`)).toEqual(wanted.map((each) => `${session}${each}`));
      for (const [index, run] of runs.entries())
        expect(run.beganAtMs).toBeGreaterThanOrEqual(runs[index - 1]?.endedAtMs ?? 0);
    }
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
    await waitUntil(async () => (await system.letters("billing")).length === sessions.length);
    await consumer.stop();
  });

  test("a stop waits for the message in hand, and the next instance gets its session at once, in order", async (context) => {
    const system = await deployConsumed(context.onTestFinished, perKey, longLock);
    const gate = Promise.withResolvers<void>();
    const first = await system.consuming(() => gate.promise, { concurrency: 1 });
    await system.publish(...inSession("a1", "a2", "a3"));
    await waitUntil(() => first.runs.length === 1);
    const stopped = first.stop("1m");
    const second = await system.consuming(succeed, { concurrency: 2 });
    await system.publish(...inSession("b1"));
    await waitUntil(() => second.runs.length === 1);
    gate.resolve();
    await stopped;
    await waitUntil(async () => (await system.lab.peek("shop.orders/Subscriptions/billing")).length === 0);
    expect(runsIn(first)).toEqual(["a1 1"]);
    expect(runsIn(second)).toEqual(["b1 1", "a2 1", "a3 1"]);
    expect(second.runs[1]?.beganAtMs).toBeGreaterThanOrEqual(first.runs[0]?.endedAtMs ?? Infinity);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("a stop with its time over returns the messages in hand, and the next instance continues there, in order", async (context) => {
    const system = await deployConsumed(context.onTestFinished, perKey, longLock);
    let isTold = false;
    const first = await system.consuming(
      async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        isTold = true;
      },
      { concurrency: 1 },
    );
    await system.publish(...inSession("a1", "a2", "a3"));
    await waitUntil(() => first.runs.length === 1);
    await first.stop("100ms");
    expect(isTold).toBe(true);
    const second = await system.consuming(succeed, { concurrency: 2 });
    await waitUntil(async () => (await system.lab.peek("shop.orders/Subscriptions/billing")).length === 0);
    expect(runsIn(first)).toEqual(["a1 1"]);
    expect(runsIn(second)).toEqual(["a1 1", "a2 1", "a3 1"]);
    expect(first.events).toContainEqual(
      expect.objectContaining({ kind: "returned", messageId: "a1", attempt: 1, unfinished: true }),
    );
  });

  test("a process that is told to stop returns its message and its session", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, perKey, longLock);
    const child = startProcess(system, onTestFinished);
    await system.publish(...inSession("a1", "a2"));
    await waitUntil(() => child.lines.includes("began a1 1"));
    child.kill("SIGTERM");
    await child.ended;
    expect(child.lines.slice(-2)).toEqual(["event stopped", "stopped"]);
    const second = await system.consuming(succeed);
    await waitUntil(async () => (await system.lab.peek("shop.orders/Subscriptions/billing")).length === 0);
    expect(runsIn(second)).toEqual(["a1 1", "a2 1"]);
    expect(child.lines.filter((line) => line.startsWith("began"))).toEqual(["began a1 1"]);
  });

  test("killed processes, with sessions: each crash costs an attempt, nothing overtakes, and the last crash ends the message", async (context) => {
    const retry = { attempts: 2, backoff: { kind: "immediate" } };
    const system = await deployConsumed(context.onTestFinished, { retry, order: "per-key" }, { lock: "5s" });
    await system.publish(...inSession("a1", "a2"));
    for (const attempt of [1, 2]) {
      const child = startProcess(system, context.onTestFinished);
      await waitUntil(() => child.lines.includes(`began a1 ${attempt}`));
      expect(await system.letters("billing")).toEqual([]);
      child.kill("SIGKILL");
      await child.ended;
      expect(child.lines.filter((line) => line.startsWith("began"))).toEqual([`began a1 ${attempt}`]);
    }
    const last = await system.consuming(succeed);
    await waitUntil(() => last.runs.length === 1);
    expect(runsIn(last)).toEqual(["a2 1"]);
    expect(await system.letters("billing")).toMatchObject([{ deadLetterReason: "MaxDeliveryCountExceeded" }]);
  });

  test("a session with a lost lock continues elsewhere, in order, and the process takes other sessions", async (context) => {
    const system = await deployConsumed(context.onTestFinished, perKey, { lock: "5s" });
    const child = startProcess(system, context.onTestFinished);
    const stuck = "a1 blocks for 20000 ms and ends";
    await system.publish(...inSession(stuck, "a2", "a3"));
    await waitUntil(() => child.lines.includes(`began ${stuck} 1`));
    const second = await system.consuming(succeed);
    await waitUntil(() => second.runs.length === 3);
    expect(runsIn(second)).toEqual([`${stuck} 2`, "a2 1", "a3 1"]);
    await waitUntil(() => child.lines.includes("event settle-dropped"));
    await second.stop();
    await system.publish(...inSession("c1 ends"));
    await waitUntil(() => child.lines.includes("began c1 ends 1"));
    await waitUntil(() => child.lines.includes("event settled"));
    for (const kind of ["settle-failed", "lost"]) expect(child.lines).not.toContain(`event ${kind}`);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("dropped connections lose no message and keep the order; only messages in hand run twice", async (context) => {
    const system = await deployConsumed(context.onTestFinished, perKey);
    const consumer = await system.consuming(() => new Promise((resolve) => setTimeout(resolve, 30)), {
      concurrency: 3,
      breaker: false,
    });
    const sessions = ["a", "b", "c", "d"];
    const steps = Array.from({ length: 15 }, (_, index) => index);
    await system.publish(...steps.flatMap((step) => inSession(...sessions.map((session) => `${session}${step}`))));
    const drops = [10, 25, 40];
    for (const count of drops) {
      await waitUntil(() => consumer.runs.length >= count);
      system.lab.emulator.dropConnections();
      const losses = drops.indexOf(count) + 1;
      await waitUntil(() => consumer.events.filter(({ kind }) => kind === "reconnected").length >= losses);
    }
    await waitUntil(async () => (await system.lab.peek("shop.orders/Subscriptions/billing")).length === 0);
    await consumer.stop();
    for (const session of sessions) {
      const bodies = consumer.runs.map(({ body }) => body).filter((body) => body.startsWith(session));
      const inOrder = bodies.filter((body, index) => body !== bodies[index - 1]);
      expect(inOrder).toEqual(steps.map((step) => `${session}${step}`));
    }
    expect(consumer.runs.length).toBeLessThanOrEqual(sessions.length * steps.length + drops.length * 3);
    expect(await system.letters("billing")).toEqual([]);
  });

  for (const [fate, runs] of [
    ["unanswered", ["a1 1", "a2 1"]],
    ["lost", ["a1 1", "a1 1", "a2 1"]],
  ] as const)
    test(`a completion that is ${fate}: nothing overtakes the message, and its session continues`, async (context) => {
      // Shorter than the wait for an answer: the consumer gives the message up when no answer has come.
      const system = await deployConsumed(context.onTestFinished, perKey, { lock: "5s" });
      let isMet = false;
      system.lab.emulator.watch({
        fateOf: () => {
          if (isMet) return "answered";
          isMet = true;
          return fate;
        },
      });
      const consumer = await system.consuming(succeed);
      await system.publish(...inSession("a1", "a2"));
      await waitUntil(() => consumer.attemptsOf("a2").length === 1);
      await waitUntil(async () => (await system.lab.peek("shop.orders/Subscriptions/billing")).length === 0);
      await consumer.stop();
      expect(runsIn(consumer)).toEqual(runs);
      expect(consumer.events.filter(({ kind }) => kind === "settle-dropped")).toHaveLength(1);
      expect(consumer.events.map(({ kind }) => kind)).not.toContain("lost");
    });
});
