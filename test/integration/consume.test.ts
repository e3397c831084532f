import type { GetMessage } from "amqplib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permanent, retryAfter } from "redeliver/consume";
import { z } from "zod";

import { type ConsumedSystem, consumeFrom } from "../support/consume/consumed.ts";
import { deploy, type DeployedSystem, sleep, until } from "../support/deployed-system.ts";
import { strategiesOn, type Strategy } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";
import { shopWith } from "../support/examples.ts";

const cases = strategyCases(strategiesOn);

/** The shortest delay before each attempt after the first. */
const delaysMs: Readonly<Record<Strategy, readonly number[]>> = {
  native: [200, 400, 400],
  deferred: [150, 300, 600],
  staged: [150, 300, 600],
  waits: [150, 300, 600],
};

/** Under strategies where the consumer chooses the delay, any delay is possible. */
function asksAndJitters(strategy: Strategy): boolean {
  return strategy === "waits" || strategy === "deferred";
}

function declaration(strategy: Strategy): unknown {
  const backoff =
    strategy === "native"
      ? { kind: "linear", first: "200ms", max: "400ms" }
      : {
          kind: "exponential",
          first: "150ms",
          factor: 2,
          max: "10s",
          ...(asksAndJitters(strategy) ? { jitter: "50%" } : {}),
        };
  const protocol = strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1";
  const billing = {
    from: { orders: ["order.*"] },
    protocol,
    retry: { attempts: 4, backoff, ...(asksAndJitters(strategy) ? { retryAfter: { max: "3s" } } : {}) },
    handlerTimeout: "1s",
    errors: { permanent: ["ValidationError"] },
  };
  return shopWith({ billing, shipping: { from: { orders: "all" }, protocol, retry: billing.retry } });
}

class ValidationError extends Error {
  override readonly name = "ValidationError";
}

describe.each(cases)("consume: $name", ({ broker, strategy }) => {
  let system: DeployedSystem;
  let billing: ConsumedSystem;
  let shipping: ConsumedSystem;
  let aborted = 0;
  const ids = ["fine", "second", "always", "declared", "cause", "reason", "hangs", "mistyped"];

  beforeAll(async () => {
    system = await deploy(broker, declaration(strategy), strategy);
    const schema = z.object({ id: z.string(), amount: z.number().optional() });
    billing = await consumeFrom(
      { ...system, options: { schema, breaker: false, service: { service: "billing-service" } } },
      async ({ id, attempt }, _, { signal }) => {
        signal.addEventListener("abort", () => {
          aborted += 1;
        });
        if (id === "second" && attempt === 1) throw new Error("not yet");
        if (id === "always") throw new Error("never");
        if (id === "declared") throw new ValidationError("it is wrong");
        if (id === "cause") throw new Error("wrapped", { cause: new ValidationError("it is wrong") });
        if (id === "reason") throw permanent("UNKNOWN_CUSTOMER", new Error("there is none"));
        if (id === "hangs" && attempt === 1) await sleep(60_000);
        if (id === "asks" && attempt === 1) throw retryAfter("2s");
        if (id === "asks too much" && attempt === 1) throw retryAfter("2h");
      },
    );
    shipping = await consumeFrom({ ...system, options: { body: "bytes" }, consumer: "shipping" }, () => undefined);
    await system.publish(asksAndJitters(strategy) ? [...ids, "asks", "asks too much"] : ids, {
      exchange: "shop.orders",
      routingKey: "order.placed",
    });
    system.channel.publish("shop.orders", "order.placed", Buffer.from("{"), { messageId: "poison", persistent: true });
    system.channel.publish("shop.orders", "order.placed", Buffer.from('{"id":1}'), {
      messageId: "unfit",
      persistent: true,
    });
    await system.channel.waitForConfirms();
    await until(60_000, () => {
      const ended = billing.events.filter((event) => event.kind === "settled" && isEnd(event.outcome, event.attempt));
      return ended.length >= (asksAndJitters(strategy) ? 12 : 10);
    });
  });
  afterAll(async () => {
    await billing.running.stop();
    await shipping.running.stop();
    await system.dispose();
  });

  const isEnd = (outcome: string, attempt: number): boolean =>
    outcome === "success" || outcome === "permanent" || attempt === 4;
  const attemptsOf = (id: string): readonly number[] => billing.runsOf(id).map((run) => run.attempt);

  test("attempts are as declared, numbered, and never early", () => {
    expect(attemptsOf("fine")).toEqual([1]);
    expect(attemptsOf("second")).toEqual([1, 2]);
    expect(attemptsOf("always")).toEqual([1, 2, 3, 4]);
    const times = billing.runsOf("always").map((run) => run.atMs);
    // Both clocks count in whole milliseconds.
    for (const [index, delayMs] of delaysMs[strategy].entries())
      expect((times[index + 1] ?? 0) - (times[index] ?? 0)).toBeGreaterThanOrEqual(delayMs - 1);
  });

  test("a permanent failure is dead after one attempt, and an unreadable body after none", () => {
    for (const id of ["declared", "cause", "reason"]) expect(attemptsOf(id), id).toEqual([1]);
    for (const id of ["poison", "unfit"]) expect(attemptsOf(id), id).toEqual([]);
  });

  test("a handler that takes too long is aborted, and the message retried", () => {
    expect(attemptsOf("hangs")).toEqual([1, 2]);
    expect(aborted).toBe(1);
    expect(billing.events).toContainEqual(
      expect.objectContaining({ kind: "settled", messageId: "hangs", outcome: "transient", reason: "TIMEOUT" }),
    );
  });

  test.runIf(asksAndJitters(strategy))("a delay from the handler is kept, up to the declared maximum", () => {
    const gapOf = (id: string): number => {
      const [first, second] = billing.runsOf(id);
      return (second?.atMs ?? 0) - (first?.atMs ?? 0);
    };
    expect(gapOf("asks")).toBeGreaterThanOrEqual(1_999);
    expect(gapOf("asks too much")).toBeGreaterThanOrEqual(2_999);
    expect(billing.events).toContainEqual({
      kind: "delay-not-kept",
      messageId: "asks too much",
      askedMs: 7_200_000,
      longestMs: 3_000,
      consumer: "billing",
    });
  });

  test("the handler sees the publisher's routing key on every attempt", () => {
    expect(new Set(billing.runs.map((run) => run.routingKey))).toEqual(new Set(["order.placed"]));
  });

  test("a retry reaches no other consumer", () => {
    for (const id of ids) expect(shipping.runsOf(id), id).toHaveLength(1);
  });

  test("each failed message is dead once, with the reason if the consumer could write it", async () => {
    const dead = new Map<string, GetMessage[]>();
    await until(20_000, async () => {
      for (const each of await system.drain("shop.billing.dead")) {
        const id = String(each.properties.messageId);
        dead.set(id, [...(dead.get(id) ?? []), each]);
      }
      return dead.size >= 6;
    });
    expect([...dead.keys()].toSorted()).toEqual(["always", "cause", "declared", "poison", "reason", "unfit"]);
    for (const [id, letters] of dead) expect(letters, id).toHaveLength(1);
    if (strategy === "native") return;
    // An AMQP 1.0 consumer writes annotations, and their names begin with `x-opt-`.
    const prefix = strategy === "deferred" ? "x-opt-" : "";
    const fieldsOf = (id: string): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        Object.entries(headersOf(dead.get(id)?.[0])).map(([name, value]) => [name.replace(prefix, ""), value]),
      );
    const reasonOf = (id: string): unknown => fieldsOf(id)["dlq-failure-reason"];
    expect(["cause", "declared", "poison", "reason", "unfit"].map(reasonOf)).toEqual([
      "PERMANENT_FAILURE",
      "PERMANENT_FAILURE",
      "UNREADABLE_MESSAGE",
      "UNKNOWN_CUSTOMER",
      "UNREADABLE_MESSAGE",
    ]);
    const headers = fieldsOf("reason");
    expect(headers).toMatchObject({
      "dlq-original-queue": "shop.billing",
      "dlq-retry-count": "1",
      "dlq-original-message-id": "reason",
    });
    expect(headers["dlq-exception-stack-trace-summary"]).toContain("Caused by: Error: there is none");
    expect(headers["dlq-failing-consumer-info"]).toContain("service=billing-service");
  });

  test("nothing is left, and the log has no error", async () => {
    for (const { name } of system.compiled.topology.queues) expect(await system.drain(name), name).toEqual([]);
    const expected = new Set(["started", "settled", "delay-not-kept", "not-compared"]);
    expect(billing.events.filter((event) => !expected.has(event.kind))).toEqual([]);
    expect(billing.running.health()).toMatchObject({ state: "running", handling: 0, waiting: 0 });
  });
});

function headersOf(message: GetMessage | undefined): Readonly<Record<string, unknown>> {
  return message?.properties.headers ?? {};
}
