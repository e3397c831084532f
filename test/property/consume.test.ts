import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { type ConsumeEvent, type Handler, permanent, type Telemetry } from "redeliver/consume";

import { prepare } from "../../src/consume/consume.ts";
import { runConsumer, type Running } from "../../src/consume/run-consumer.ts";
import {
  type CallFate,
  createScriptedBroker,
  type OpenFate,
  type Script,
} from "../support/consume/scripted-adapter.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { forAllAsync } from "../support/for-all.ts";

/** A handler's conduct, and its duration. `deaf`: it ignores its signal and does not end. */
type Conduct = "returns" | "throws" | "gives-up" | "waits" | "deaf";
interface Handling {
  readonly conduct: Conduct;
  readonly afterMs: number;
}

type Step = { readonly afterMs: number } & (
  | { readonly kind: "deliver"; readonly handling: Handling; readonly attempt: number }
  | { readonly kind: "cut" }
);

interface Course {
  readonly script: Script;
  readonly steps: readonly Step[];
  readonly concurrency: number;
  readonly breaker: boolean;
  readonly handlerTimeout: boolean;
  readonly stopWithinMs: number;
  /** The conduct of the listeners. */
  readonly listeners: "listen" | "throw" | "reject";
}

const thrown: readonly (() => unknown)[] = [
  () => new Error("no"),
  () => null,
  () => Symbol("no"),
  () => Object.create(null),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
];

const within = fc.constantFrom(0, 1, 5, 40, 300, 2_000);
const ends = fc.constantFrom<CallFate["ends"]>("well", "well", "at-once", "rejects", "throws", "not-ours", "never");
const fates = (...allowed: CallFate["ends"][]): fc.Arbitrary<CallFate[]> =>
  fc.array(fc.record({ ends: allowed.length === 0 ? ends : fc.constantFrom(...allowed), afterMs: within }), {
    maxLength: 12,
  });
const conduct = fc.constantFrom<Conduct>("returns", "throws", "throws", "gives-up", "waits", "deaf");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("deliver" as const),
      afterMs: within,
      attempt: fc.integer({ min: 1, max: 6 }),
      handling: fc.record({ conduct, afterMs: within }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), afterMs: within }) },
);
const course: fc.Arbitrary<Course> = fc.record({
  script: fc.record({
    opens: fc.array(fc.constantFrom<OpenFate>("opens", "opens", "fails", "lost-meanwhile", "hangs", "deaf"), {
      maxLength: 6,
    }),
    settles: fates(),
    resumes: fates("well", "well", "well", "rejects", "never"),
    pauses: fates("well", "well", "rejects", "never"),
    closes: fates("well", "rejects", "never"),
    unstarted: fc.constantFrom("hold" as const, "return" as const),
  }),
  steps: fc.array(step, { maxLength: 25 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  breaker: fc.boolean(),
  handlerTimeout: fc.boolean(),
  stopWithinMs: within,
  listeners: fc.constantFrom("listen" as const, "throw" as const, "reject" as const),
});

const rejections: unknown[] = [];
const noteRejection = (error: unknown): void => void rejections.push(error);
/** The real `setImmediate`: Node reports unhandled rejections between two turns of its own event loop. */
const realTurn = setImmediate;

beforeEach(() => {
  vi.useFakeTimers();
  process.on("unhandledRejection", noteRejection);
});
afterEach(() => {
  vi.useRealTimers();
  process.off("unhandledRejection", noteRejection);
});

function telemetryOf({ listeners }: Course): Telemetry | undefined {
  if (listeners === "listen") return undefined;
  const fail = async (): Promise<never> => {
    throw new Error("nobody records it");
  };
  return {
    attempt: async (_, __, run) => {
      if (listeners === "reject") await run();
      return fail();
    },
    carried: fail as () => never,
    event:
      listeners === "reject"
        ? (fail as () => never)
        : () => {
            throw new Error("nobody records it");
          },
  };
}

/** Plays a course with a virtual clock, stops the consumer, and waits until nothing moves any more. */
async function play(course: Course) {
  const { script, steps, concurrency, breaker, handlerTimeout, stopWithinMs, listeners } = course;
  const broker = createScriptedBroker(script);
  const handlings = new Map<string, Handling>();
  const runs: string[] = [];
  const events: ConsumeEvent[] = [];
  const handler: Handler = async ({ id }, { signal }) => {
    runs.push(String(id));
    const { conduct, afterMs } = handlings.get(String(id)) as Handling;
    if (conduct === "deaf") await new Promise(() => undefined);
    if (conduct === "waits") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (conduct === "throws") throw thrown[runs.length % thrown.length]?.();
    if (conduct === "gives-up") throw permanent(runs.length % 2 === 0 ? "GONE" : (undefined as unknown as string));
  };
  const declared = checked(oneConsumer(handlerTimeout ? { handlerTimeout: "500ms" } : {}));
  const { settings, compiled, contract } = accepted(
    prepare(declared, "billing", {
      target: { broker: "rabbitmq", version: "4.3" },
      connection: { url: "amqp://localhost" },
      concurrency,
      breaker: breaker ? { failures: 2, firstPause: "100ms", longestPause: "1s" } : false,
      telemetry: telemetryOf(course),
      log: (event: ConsumeEvent): unknown => {
        events.push(event);
        if (listeners === "throw") throw new Error("the log is full");
        return listeners === "reject" ? Promise.reject(new Error("the log is full")) : undefined;
      },
    }),
  );
  const opening = { compiled, contract, connection: { url: "amqp://localhost" } } as never;
  const starting = runConsumer({ adapter: broker.adapter, opening, settings, handler }).catch(() => null);
  await vi.advanceTimersByTimeAsync(3_000);
  const running: Running | null = await starting;
  for (const [index, each] of steps.entries()) {
    await vi.advanceTimersByTimeAsync(each.afterMs);
    if (each.kind === "cut") broker.cut();
    else {
      handlings.set(`m${index}`, each.handling);
      broker.deliver(`m${index}`, each.attempt);
    }
  }
  const beganMs = performance.now();
  let stopMs = running === null ? 0 : Number.POSITIVE_INFINITY;
  const stop = async (): Promise<void> => {
    await running?.stop(`${stopWithinMs}ms` as "1ms");
    stopMs = performance.now() - beganMs;
  };
  void stop();
  await vi.advanceTimersByTimeAsync(120_000);
  await new Promise((resolve) => realTurn(resolve));
  return { started: running !== null, stopMs, runs, events, broker, isSettled: broker.underWay() === 0 };
}

/** A stop may exceed its deadline by one or two turns of the event loop. */
const graceMs = 50;

describe("a consumer on a scripted broker", () => {
  test("handles every rejection, settles nothing twice, stops in time, and leaves nothing behind", async () => {
    await forAllAsync(150, [course], async (each) => {
      rejections.length = 0;
      const { started, stopMs, runs, events, broker, isSettled } = await play(each);
      expect(rejections).toEqual([]);
      expect(broker.breaches).toEqual([]);
      expect(new Set(runs).size).toBe(runs.length);
      expect(stopMs).toBeLessThanOrEqual(
        Math.max(each.stopWithinMs, each.script.unstarted === "hold" ? 1_000 : 7_000) + graceMs,
      );
      expect(isSettled).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
      expect(broker.connections.map(({ closes }) => closes)).toEqual(broker.connections.map(() => 1));
      const after = events.slice(events.findIndex(({ kind }) => kind === "stopped") + 1);
      if (started) expect(events.filter(({ kind }) => kind === "stopped")).toHaveLength(1);
      expect(after).toEqual([]);
    });
  });

  test("a broker that forgets a request is asked again sooner than at the start, and then with more patience", async () => {
    const opens: readonly OpenFate[] = ["opens", "fails", "fails", "fails", "fails", "opens", "opens"];
    const script: Script = { opens, settles: [], resumes: [], pauses: [], closes: [], unstarted: "hold" };
    const settings = { concurrency: 1, breaker: false, handlerTimeout: false, stopWithinMs: 0 };
    const cut = { kind: "cut", afterMs: 60_000 } as const;
    const { broker } = await play({ ...settings, script, steps: [cut, cut, cut], listeners: "listen" });
    expect(broker.acceptsWithinMs).toEqual([30_000, 10_000, 10_000, 10_000, 20_000, 20_000, 10_000]);
  });
});
