import { describe, test } from "vitest";

import { deploy, type DeployedSystem } from "../support/servicebus/deployed-system.ts";
import type { Decision, DrivenConsumer, ServicebusContract } from "../support/servicebus/drive.ts";
import { waitUntil } from "../support/servicebus/wait.ts";

const from = { orders: "all" };
const atOnce = { from, retry: { attempts: 3, backoff: { kind: "immediate" } }, handlerTimeout: "10s" };
const retry = { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } };
/** 1 s, then 2 s, in copies that the consumer schedules; two crashes are allowed. */
const scheduled = { from, retry, handlerTimeout: "10s", crash: { deliveries: 2 } };
const order = { subject: "order.placed", applicationProperties: { tenant: "a", paid: true } };

/** The milliseconds from the end of each run of the handler to the next delivery. */
function delaysOf({ seen }: DrivenConsumer): number[] {
  return seen.slice(1).map(({ receivedAtMs }, index) => receivedAtMs - (seen[index]?.settledAtMs ?? 0));
}

function attemptsOf({ seen }: DrivenConsumer, wanted?: string): number[] {
  return seen.filter(({ body }) => wanted === undefined || body === wanted).map(({ attempt }) => attempt);
}

const always =
  (decision: Decision): (() => Decision) =>
  () =>
    decision;

async function isDead(system: DeployedSystem, consumer: string, letters = 1): Promise<boolean> {
  return (await system.letters(consumer)).length === letters;
}

/** Nothing that could ever be delivered to a consumer is left, scheduled or not. */
async function isEmpty(system: DeployedSystem, ...consumers: readonly string[]): Promise<boolean> {
  const left = await Promise.all(consumers.map(async (each) => system.lab.peek(system.contract(each).workQueue)));
  return left.every((messages) => messages.length === 0);
}

// At once, because a test spends its time waiting for locks and delays.
describe.concurrent("what was deployed, driven by its contract", () => {
  test("immediate: N deliveries, then one dead letter with MaxDeliveryCountExceeded, as it was sent", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: atOnce });
    await system.publish({ body: "order 1", messageId: "1", ...order });
    const consumer = system.drive("billing", always("transient"));
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(await consumer.poll(), "delivery N + 1").toBe(false);
    expect(consumer.seen.map(({ attempt, message }) => [attempt, message.deliveryCount])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    const [letter] = await system.letters("billing");
    expect(letter).toMatchObject({ body: "order 1", messageId: "1", deadLetterReason: "MaxDeliveryCountExceeded" });
    expect(letter).toMatchObject(order);
    expect(await isEmpty(system, "billing")).toBe(true);
  });

  test("scheduled: each attempt comes at its time, never early, and the last failure is a dead letter", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: scheduled });
    await system.publish({ body: "order 1", messageId: "1", ...order });
    const consumer = system.drive("billing", always("transient"));
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(attemptsOf(consumer)).toEqual([1, 2, 3]);
    expect(consumer.seen.map(({ message }) => message.messageId)).toEqual(["1", "1:r2", "1:r3"]);
    const [first, second] = delaysOf(consumer);
    expect(first).toBeGreaterThanOrEqual(1_000);
    expect(second).toBeGreaterThanOrEqual(2_000);
    const [letter] = await system.letters("billing");
    expect(letter).toMatchObject({
      body: "order 1",
      subject: order.subject,
      deadLetterReason: "ATTEMPTS_EXHAUSTED",
      deadLetterErrorDescription: "what the error of order 1 says",
      applicationProperties: { ...order.applicationProperties, "redeliver-original-id": "1" },
    });
    expect(await isEmpty(system, "billing")).toBe(true);
  });

  test("jitter: the shortest delay and the longest, and neither is early", async ({ expect, onTestFinished }) => {
    const backoff = { kind: "constant", delay: "1s", jitter: "100%" };
    const system = await deploy(onTestFinished, {
      billing: { ...scheduled, retry: { attempts: 2, backoff } },
      mail: { ...scheduled, retry: { attempts: 2, backoff } },
    });
    await system.publish({ body: "order 1" });
    const once = ({ attempt }: { readonly attempt: number }): Decision => (attempt === 1 ? "transient" : "success");
    const soonest = system.drive("billing", once, { draw: () => 0 });
    const latest = system.drive("mail", once, { draw: () => 1 });
    await Promise.all([soonest, latest].map(async (each) => each.pollUntil(() => each.seen.length === 2)));
    expect(delaysOf(soonest)[0]).toBeGreaterThanOrEqual(1_000);
    expect(delaysOf(latest)[0]).toBeGreaterThanOrEqual(2_000);
  });

  test("ttl-tier, which only its name chooses: an attempt does not come before its tier has expired", async ({
    expect,
    onTestFinished,
  }) => {
    // The copy carries the time of its tier, and has to be received before it is over once more.
    const slow = { ...scheduled, retry: { attempts: 2, backoff: { kind: "constant", delay: "10s" } } };
    const system = await deploy(onTestFinished, { billing: slow }, { strategy: "ttl-tier" });
    await system.publish({ body: "order 1", messageId: "1", ...order });
    const consumer = system.drive("billing", always("transient"));
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(attemptsOf(consumer)).toEqual([1, 2]);
    expect(delaysOf(consumer)[0]).toBeGreaterThanOrEqual(10_000);
    const [letter] = await system.letters("billing");
    expect(letter).toMatchObject({ body: "order 1", messageId: "1:r2", deadLetterReason: "ATTEMPTS_EXHAUSTED" });
  });

  test("a delay that the handler asks for is waited out", async ({ expect, onTestFinished }) => {
    const asking = { ...scheduled, retry: { ...retry, retryAfter: { max: "5s" } } };
    const system = await deploy(onTestFinished, { billing: asking });
    await system.publish({ body: "order 1" });
    const consumer = system.drive("billing", ({ attempt }) => (attempt === 1 ? { askMs: 2_500 } : "success"));
    await consumer.pollUntil(() => consumer.seen.length === 2);
    expect(delaysOf(consumer)[0]).toBeGreaterThanOrEqual(2_500);
    expect(await isEmpty(system, "billing")).toBe(true);
  });

  test("success on attempt k ends it, also on the last", async ({ expect, onTestFinished }) => {
    const system = await deploy(onTestFinished, { billing: scheduled });
    await system.publish({ body: "2" }, { body: "3" });
    const consumer = system.drive("billing", ({ body, attempt }) =>
      attempt === Number(body) ? "success" : "transient",
    );
    await consumer.pollUntil(() => consumer.seen.length === 5);
    expect([attemptsOf(consumer, "2"), attemptsOf(consumer, "3")]).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
    expect([await isEmpty(system, "billing"), await isDead(system, "billing", 0)]).toEqual([true, true]);
  });

  for (const [name, declared] of [
    ["immediate", atOnce],
    ["scheduled", scheduled],
  ] as const) {
    test(`${name}: a permanent failure is a dead letter at once, with reason and description`, async ({
      expect,
      onTestFinished,
    }) => {
      const system = await deploy(onTestFinished, { billing: declared });
      await system.publish({ body: "order 1", messageId: "1", ...order });
      const consumer = system.drive("billing", always("permanent"));
      expect([await consumer.poll(10_000), attemptsOf(consumer)]).toEqual([true, [1]]);
      const [letter, ...others] = await system.letters("billing");
      expect(letter).toMatchObject({
        body: "order 1",
        messageId: "1",
        deadLetterReason: "PERMANENT_FAILURE",
        deadLetterErrorDescription: "what the error of order 1 says",
        ...order,
      });
      expect([others, await isEmpty(system, "billing"), await consumer.poll()]).toEqual([[], true, false]);
    });
  }
});

/** A lock that a test can wait for, and that a machine which stands still for some seconds does not lose. */
const soon = { lock: "10s" } as const;

describe.concurrent("crashes and returns", () => {
  test("scheduled: a consumer that crashes ends at the crash budget, after as many locks", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: scheduled }, soon);
    await system.publish({ body: "order 1", messageId: "1" });
    const consumer = system.drive("billing", always("crash"));
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(attemptsOf(consumer), "the same attempt, as often as the budget says").toEqual([1, 1]);
    expect(await system.letters("billing")).toMatchObject([{ deadLetterReason: "MaxDeliveryCountExceeded" }]);
    const [first, second] = consumer.seen;
    const lockedUntilMs = first?.message.lockedUntilUtc?.getTime();
    expect(second?.receivedAtMs, "not before the lock is over").toBeGreaterThanOrEqual(lockedUntilMs ?? Infinity);
  });

  test("scheduled: each attempt has the whole crash budget, and crashes cost no attempt", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: { ...scheduled, retry: { ...retry, attempts: 2 } } }, soon);
    await system.publish({ body: "order 1", messageId: "1" });
    const endings: readonly Decision[] = ["crash", "transient", "crash", "success"];
    let run = 0;
    const consumer = system.drive("billing", () => endings[run++] ?? "success");
    await consumer.pollUntil(() => consumer.seen.length === 4);
    expect(attemptsOf(consumer)).toEqual([1, 1, 2, 2]);
    expect([await isEmpty(system, "billing"), await isDead(system, "billing", 0)]).toEqual([true, true]);
  });

  test("immediate: crashes, returns and failures spend the same attempts", async ({ expect, onTestFinished }) => {
    const system = await deploy(onTestFinished, { billing: atOnce }, soon);
    await system.publish({ body: "order 1" });
    const endings: readonly Decision[] = ["return", "crash", "transient"];
    const consumer = system.drive("billing", ({ attempt }) => endings[attempt - 1] ?? "success");
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(attemptsOf(consumer)).toEqual([1, 2, 3]);
  });

  test("a crash between copy and completion doubles the message and loses nothing", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: { ...scheduled, crash: { deliveries: 3 } } }, soon);
    await system.publish({ body: "order 1", messageId: "1" });
    const consumer = system.drive("billing", crashingAfterCopy());
    await consumer.pollUntil(async () => consumer.seen.length === 4 && isEmpty(system, "billing"));
    expect(attemptsOf(consumer).toSorted()).toEqual([1, 1, 2, 2]);
    expect(await isDead(system, "billing", 0)).toBe(true);
  });

  test("duplicate detection drops the second of two copies, and no retry", async ({ expect, onTestFinished }) => {
    const system = await deploy(
      onTestFinished,
      { billing: { ...scheduled, crash: { deliveries: 3 } } },
      { ...soon, duplicates: "10m" },
    );
    await system.publish({ body: "order 1", messageId: "1" });
    const consumer = system.drive("billing", crashingAfterCopy());
    await consumer.pollUntil(async () => consumer.seen.length >= 3 && isEmpty(system, "billing"));
    expect(attemptsOf(consumer).toSorted()).toEqual([1, 1, 2]);
    expect(await isDead(system, "billing", 0)).toBe(true);
  });
});

/** Attempt 1 schedules its copy and crashes, and the next time it fails as it should. */
function crashingAfterCopy(): (delivery: { readonly attempt: number }) => Decision {
  let crashes = 0;
  return ({ attempt }) => {
    if (attempt > 1) return "success";
    return crashes++ === 0 ? { crashAfter: 1, of: "transient" } : "transient";
  };
}

describe.concurrent("duplicate detection", () => {
  test("does not eat the retries: all attempts are made, then one dead letter", async ({ expect, onTestFinished }) => {
    const system = await deploy(onTestFinished, { billing: scheduled }, { duplicates: "10m" });
    await system.publish({ body: "order 1", messageId: "1" });
    await system.publish({ body: "sent twice", messageId: "1" });
    const consumer = system.drive("billing", always("transient"));
    await consumer.pollUntil(async () => isDead(system, "billing"));
    expect(consumer.seen.map(({ body, attempt }) => [body, attempt])).toEqual([
      ["order 1", 1],
      ["order 1", 2],
      ["order 1", 3],
    ]);
  });

  test("a consumer whose copies keep the id loses the message: the harness sees it", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: scheduled }, { duplicates: "10m" });
    const right = system.contract("billing");
    const wrong = JSON.parse(
      JSON.stringify(right).replaceAll(/"messageIdSuffix":"[^"]*"/g, '"messageIdSuffix":""'),
    ) as ServicebusContract;
    await system.publish({ body: "order 1", messageId: "1" });
    const consumer = system.drive("billing", always("transient"), { contract: wrong });
    expect(await consumer.poll(10_000)).toBe(true);
    expect([await isEmpty(system, "billing"), await isDead(system, "billing", 0)]).toEqual([true, true]);
  });
});

describe.concurrent("sessions", () => {
  const ordered = { ...atOnce, order: "per-key" };

  test("a session waits for its failed message, another one does not, and a dead one lets the others pass", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: ordered });
    const bodies = ["a1", "a2", "b1", "a3", "b2"];
    await system.publish(...bodies.map((body) => ({ body, messageId: body, sessionId: body.slice(0, 1) })));
    const consumer = system.drive("billing", ({ body, attempt }) => {
      if (body === "a2") return "transient";
      return body === "a1" && attempt === 1 ? "transient" : "success";
    });
    await consumer.pollUntil(() => ["a3", "b2"].every((last) => consumer.seen.some(({ body }) => body === last)));
    const seenOf = (session: string): string[] =>
      consumer.seen.map(({ body }) => body).filter((body) => body.startsWith(session));
    expect(seenOf("a")).toEqual(["a1", "a1", "a2", "a2", "a2", "a3"]);
    expect(seenOf("b")).toEqual(["b1", "b2"]);
    expect(await system.letters("billing")).toMatchObject([
      { body: "a2", sessionId: "a", deadLetterReason: "MaxDeliveryCountExceeded" },
    ]);
  });

  test("a consumer that goes away in the middle of a session leaves its order, and counts no delivery", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: ordered });
    await system.publish(...["a1", "a2"].map((body) => ({ body, messageId: body, sessionId: "a" })));
    let crashes = 0;
    const consumer = system.drive("billing", ({ body }) => (body === "a1" && crashes++ === 0 ? "crash" : "success"));
    await consumer.pollUntil(() => consumer.seen.some(({ body }) => body === "a2"));
    expect(consumer.seen.map(({ body, message }) => [body, message.deliveryCount])).toEqual([
      ["a1", 0],
      ["a1", 0],
      ["a2", 0],
    ]);
  });
});

describe.concurrent("topics and dead queues", () => {
  test("a topic reaches every consumer that asks for the message, and a retry only its own", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, {
      billing: { ...scheduled, from: { orders: ["order.placed", "order.cancelled"] } },
      mail: { ...scheduled, from: { orders: ["order.#"] } },
      audit: { ...scheduled, from: { orders: ["price.changed"] } },
    });
    await system.publish({ body: "order 1", ...order }, { body: "price 1", subject: "price.changed" });
    await system.publish({ body: "nobody's", subject: "stock.changed" });
    const billing = system.drive("billing", ({ attempt }) => (attempt === 1 ? "transient" : "success"));
    const mail = system.drive("mail", always("success"));
    const audit = system.drive("audit", always("success"));
    const all = [billing, mail, audit];
    await billing.pollUntil(() => billing.seen.length === 2);
    await Promise.all([mail, audit].map(async (each) => each.pollUntil(() => each.seen.length === 1)));
    await Promise.all(all.map(async (each) => each.poll()));
    const seen = all.map((each) => each.seen.map(({ body, attempt }) => `${body}: ${attempt}`));
    expect(seen).toEqual([["order 1: 1", "order 1: 2"], ["order 1: 1"], ["price 1: 1"]]);
    expect(await isEmpty(system, "billing", "mail", "audit")).toBe(true);
  });

  test("nothing in the one dead queue is lost to time, however short its message's own time to live", async ({
    expect,
    onTestFinished,
  }) => {
    const system = await deploy(onTestFinished, { billing: atOnce, mail: atOnce }, { deadQueue: "shared" });
    const { deadQueue } = system.contract("billing");
    await system.publish({ body: "short", messageId: "1", timeToLive: 12_000 }, { body: "long", messageId: "2" });
    const consumers = [system.drive("billing", always("permanent")), system.drive("mail", always("transient"))];
    const [billing, mail] = consumers;
    await billing?.pollUntil(() => billing.seen.length === 2);
    await mail?.pollUntil(() => mail.seen.length === 6);
    const expired = `${deadQueue}/$DeadLetterQueue`;
    await waitUntil(async () => (await system.lab.peek(expired)).length === 2);
    expect((await system.lab.peek(deadQueue)).map(({ body, deadLetterReason }) => [body, deadLetterReason])).toEqual([
      ["long", "PERMANENT_FAILURE"],
      ["long", "MaxDeliveryCountExceeded"],
    ]);
    const late = await system.lab.peek(expired);
    expect(late.map(({ body, deadLetterReason }) => [body, deadLetterReason])).toEqual([
      ["short", "TTLExpiredException"],
      ["short", "TTLExpiredException"],
    ]);
    expect(await isEmpty(system, "billing", "mail")).toBe(true);
  });
});
