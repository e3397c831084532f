import { setTimeout as sleep } from "node:timers/promises";

import { type Heard, waitUntil, type Watcher } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";

import { stopInHand as stop } from "../support/consume/stopped-course.ts";
import { startProcess } from "../support/servicebus/consumer-process.ts";
import { type ConsumedSystem, type Consuming, deployConsumed, type Handle } from "../support/servicebus/consuming.ts";

/** A single delivery that counts is the last one. */
const once = { retry: { attempts: 1, backoff: { kind: "immediate" } } };
const onceInOrder = { ...once, order: "per-key" };
/** The lock of an unreturned message lasts longer than any test. */
const longLock = { lock: "5m" } as const;
const succeed: Handle = () => undefined;
const untilStopped: Handle = (_, { signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

/** The first letter names the session, if the queue has sessions. */
const messagesOf = (...bodies: readonly string[]) =>
  bodies.map((body) => ({ body: Buffer.from(body), messageId: body, sessionId: body.slice(0, 1) }));
const runsIn = ({ runs }: Pick<Consuming, "runs">): readonly string[] =>
  runs.map(({ body, attempt }) => `${body} ${attempt}`);

/** Lists the receivers' settlements in their order. */
function settlementsIn(system: ConsumedSystem, more: Watcher = {}): readonly string[] {
  const kinds: string[] = [];
  const heard = (each: Heard): void => void (each.kind === "settled" && kinds.push(each.settlement.kind));
  system.lab.emulator.watch({ heard, ...more });
  return kinds;
}

const stopInHand = async ({ consuming }: ConsumedSystem, times: number): Promise<readonly string[]> =>
  runsIn({ runs: await stop(times, async (handler, options) => consuming(handler as Handle, options)) });

describe.concurrent("messages that a stop returns on Service Bus", () => {
  test("in a session: stops cost no attempt, settle nothing, and keep the order", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, onceInOrder, longLock);
    const settlements = settlementsIn(system);
    await system.publish(...messagesOf("a1", "a2", "a3"));
    expect(await stopInHand(system, 4)).toEqual(["a1 1", "a1 1", "a1 1", "a1 1"]);
    expect(settlements, "the session is closed, and nothing is said about its message").toEqual([]);
    const last = await system.consuming(succeed, { concurrency: 2 });
    await waitUntil(() => last.runs.length === 3);
    expect(runsIn(last)).toEqual(["a1 1", "a2 1", "a3 1"]);
    await last.stop();
    expect(settlements).toEqual(["complete", "complete", "complete"]);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("in parallel sessions: each continues at its first unfinished message", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, onceInOrder, longLock);
    await system.publish(...messagesOf("a1", "b1", "c1", "a2", "b2", "c2"));
    const first = await system.consuming(
      (message, attempt) => (message.body === "b1" ? undefined : untilStopped(message, attempt)),
      { concurrency: 3 },
    );
    await waitUntil(() => first.runs.length === 4);
    await first.stop("0ms");
    const second = await system.consuming(succeed, { concurrency: 3 });
    await waitUntil(() => second.runs.length === 5);
    for (const [session, left] of [
      ["a", ["a1 1", "a2 1"]],
      ["b", ["b2 1"]],
      ["c", ["c1 1", "c2 1"]],
    ] as const)
      expect(runsIn(second).filter((run) => run.startsWith(session))).toEqual(left);
    expect(await system.letters("billing")).toEqual([]);
  });

  test("with sessions, processes that stop one after the other: no attempt is spent", async ({ onTestFinished }) => {
    const system = await deployConsumed(onTestFinished, onceInOrder, longLock);
    await system.publish(...messagesOf("a1", "a2"));
    for (let time = 0; time < 2; time += 1) {
      const child = startProcess(system, onTestFinished);
      await waitUntil(() => child.lines.includes("began a1 1"));
      child.kill("SIGTERM");
      await child.ended;
      expect(child.lines.filter((line) => line.startsWith("began"))).toEqual(["began a1 1"]);
      expect(child.lines.slice(-2)).toEqual(["event stopped", "stopped"]);
    }
    const last = await system.consuming(succeed);
    await waitUntil(() => last.runs.length === 2);
    expect(runsIn(last)).toEqual(["a1 1", "a2 1"]);
    expect(await system.letters("billing")).toEqual([]);
  });

  const tiered = { retry: { attempts: 2, backoff: { kind: "constant", delay: "1s" } }, crash: { deliveries: 1 } };
  test.for([
    ["immediate", once],
    ["ttl-tier", tiered],
  ] as const)(
    "of a queue under %s: each message is released, and stops cost no attempt",
    async ([strategy, billing], { onTestFinished }) => {
      const system = await deployConsumed(onTestFinished, billing, { ...longLock, strategy });
      const settlements = settlementsIn(system);
      await system.publish(...messagesOf("1"));
      expect(await stopInHand(system, 3)).toEqual(["1 1", "1 1", "1 1"]);
      expect(settlements).toEqual(["release", "release", "release"]);
      const last = await system.consuming(succeed);
      await waitUntil(() => last.runs.length === 1);
      expect(runsIn(last)).toEqual(["1 1"]);
      expect(await system.letters("billing")).toEqual([]);
    },
  );

  test("of a queue that confirms the end of deliveries late: the message is released all the same", async (context) => {
    const system = await deployConsumed(context.onTestFinished, once, longLock);
    // The SDK waits for 200 ms.
    const settlements = settlementsIn(system, { mayDrain: () => sleep(1_000) });
    await system.publish(...messagesOf("1"));
    const first = await system.consuming(untilStopped, { concurrency: 3 });
    await waitUntil(() => first.runs.length === 1);
    // The handler has three of the four seconds. By then the queue has confirmed the return.
    await first.stop("4s");
    const last = await system.consuming(succeed);
    await waitUntil(() => last.runs.length === 1);
    expect([runsIn(first), runsIn(last)]).toEqual([["1 1"], ["1 1"]]);
    expect(settlements[0]).toBe("release");
    expect(await system.letters("billing")).toEqual([]);
  });

  test("of a queue under scheduled: stops in a later attempt cost neither it nor the crash budget", async (context) => {
    const retry = { attempts: 2, backoff: { kind: "constant", delay: "500ms" } };
    const system = await deployConsumed(context.onTestFinished, { retry, crash: { deliveries: 1 } }, longLock);
    await system.publish(...messagesOf("1"));
    const failing = await system.consuming(
      (message, attempt) => {
        if (attempt.number === 1) throw new Error("not yet");
        return untilStopped(message, attempt);
      },
      { concurrency: 1 },
    );
    await waitUntil(() => failing.runs.length === 2);
    await failing.stop("0ms");
    expect(await stopInHand(system, 2)).toEqual(["1 2", "1 2"]);
    const last = await system.consuming(succeed);
    await waitUntil(() => last.runs.length === 1);
    expect(runsIn(last)).toEqual(["1 2"]);
    expect(await system.letters("billing")).toEqual([]);
  });
});
