import { describe, expect, test, vi } from "vitest";

import { createMemoryStore } from "../../src/consume/idempotency/memory-store.ts";
import { once, type OnceOptions } from "../../src/consume/idempotency/once.ts";
import type { IdempotencyStore } from "../../src/consume/idempotency/store.ts";
import type { Attempt, Handler, Message } from "../../src/consume/message.ts";
import { storeClaims } from "../support/stores/store-claims.ts";

const shared = createMemoryStore();
describe("the store in memory", () => storeClaims(() => shared));

const message = (id: string | null): Message => ({ id, body: {}, routingKey: null, headers: {}, raw: null });
const attempt: Attempt = { number: 1, of: 3, signal: new AbortController().signal };
const options = (store: IdempotencyStore, more: Partial<OnceOptions> = {}): OnceOptions => ({
  store,
  consumer: "billing",
  expires: "1m",
  keep: "7d",
  ...more,
});

/** A handler that counts its runs and ends when the test tells it to. */
function controlled(): {
  readonly handler: Handler;
  readonly runs: () => number;
  readonly end: (error?: Error) => void;
} {
  const ends: ((error?: Error) => void)[] = [];
  let runs = 0;
  return {
    handler: () => {
      runs++;
      return new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))));
    },
    runs: () => runs,
    end: (error) => ends.shift()?.(error),
  };
}

describe("the guard", () => {
  test("of two simultaneous deliveries, one runs the handler; the other fails, and succeeds on its next attempt", async () => {
    const { handler, runs, end } = controlled();
    const guarded = once(options(createMemoryStore()), handler);
    const first = guarded(message("m-1"), attempt);
    await expect(guarded(message("m-1"), attempt)).rejects.toMatchObject({ name: "AlreadyRunningError" });
    end();
    await first;
    await guarded(message("m-1"), attempt);
    expect(runs()).toBe(1);
  });

  test("allows the next attempt after a failure, and passes the error on unchanged", async () => {
    const { handler, runs, end } = controlled();
    const guarded = once(options(createMemoryStore()), handler);
    for (const error of [new Error("the bank is down"), new Error("still down")]) {
      const failing = guarded(message("m-1"), attempt);
      await Promise.resolve();
      end(error);
      await expect(failing).rejects.toBe(error);
    }
    const last = guarded(message("m-1"), attempt);
    await Promise.resolve();
    end();
    await last;
    expect(runs()).toBe(3);
  });

  test("frees the key of an endless run when its time is over", async () => {
    let nowMs = 0;
    const { handler, runs } = controlled();
    const guarded = once(options(createMemoryStore(() => nowMs)), handler);
    void guarded(message("m-1"), attempt);
    nowMs = 59_999;
    await expect(guarded(message("m-1"), attempt)).rejects.toMatchObject({ name: "AlreadyRunningError" });
    nowMs = 60_000;
    void guarded(message("m-1"), attempt);
    await Promise.resolve();
    expect(runs()).toBe(2);
  });

  test("separates the messages of two consumers in one store, and different messages of one", async () => {
    const ran: string[] = [];
    const store = createMemoryStore();
    const guardedFor = (consumer: string): Handler =>
      once(options(store, { consumer }), ({ id }) => void ran.push(`${consumer} ${id}`));
    for (const consumer of ["billing", "mail"])
      for (const id of ["m-1", "m-2", "m-1"]) await guardedFor(consumer)(message(id), attempt);
    expect(ran).toEqual(["billing m-1", "billing m-2", "mail m-1", "mail m-2"]);
  });

  test("uses the given key, and treats a message without a key as a permanent failure", async () => {
    const ran: unknown[] = [];
    const key = ({ headers }: Message): string => String(headers["order"]);
    const byOrder = once(options(createMemoryStore(), { key }), ({ id }) => void ran.push(id));
    await byOrder({ ...message("m-1"), headers: { order: 7 } }, attempt);
    await byOrder({ ...message("m-2"), headers: { order: 7 } }, attempt);
    expect(ran).toEqual(["m-1"]);
    const byId = once(options(createMemoryStore()), () => void ran.push("ran"));
    await expect(byId(message(null), attempt)).rejects.toMatchObject({ reason: "NO_IDEMPOTENCY_KEY" });
    expect(ran).toEqual(["m-1"]);
  });

  test("does not run the handler if the store fails at the beginning; at the end the handler's own outcome counts", async () => {
    const down = new Error("the store is down");
    const heard: unknown[] = [];
    const failing = (operation: keyof IdempotencyStore): IdempotencyStore => ({
      ...createMemoryStore(),
      // It throws instead of returning a rejected promise. The guard must bear that, too.
      [operation]: () => {
        throw down;
      },
    });
    const storeFailed = (error: unknown, key: string): never => {
      heard.push(error, key);
      throw new Error("a bug in the listener");
    };
    let runs = 0;
    const count = (): void => void runs++;
    await expect(once(options(failing("begin")), count)(message("m-1"), attempt)).rejects.toBe(down);
    expect(runs).toBe(0);
    await once(options(failing("finish"), { storeFailed }), count)(message("m-1"), attempt);
    expect(runs).toBe(1);
    const own = new Error("the handler's own");
    const throwing = once(options(failing("release"), { storeFailed }), () => Promise.reject(own));
    await expect(throwing(message("m-1"), attempt)).rejects.toBe(own);
    expect(heard).toEqual([down, "billing:m-1", down, "billing:m-1"]);
    // A listener that records elsewhere is asynchronous, and the guard does not wait for it.
    const tells = vi.fn(async () => Promise.reject(new Error("a bug in the listener")));
    await once(options(failing("finish"), { storeFailed: tells }), count)(message("m-1"), attempt);
    await new Promise((resolve) => setImmediate(resolve));
    expect(tells).toHaveBeenCalledOnce();
  });

  test("refuses an invalid duration before any message comes", () => {
    const wrong = options(createMemoryStore(), { expires: "1 minute" as "1m" });
    expect(() => once(wrong, () => {})).toThrow('"1 minute" is no duration');
  });
});
