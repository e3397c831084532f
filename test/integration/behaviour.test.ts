import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { drive, type DrivenConsumer, type Ending } from "../support/drive.ts";
import { expectedCourse } from "../support/expected-course.ts";
import { strategiesOn } from "../support/strategies.ts";
import { strategyCases } from "../support/live.ts";

/** Every strategy on every broker of this run that has it. */
const cases = strategyCases(strategiesOn);

type Case = (typeof cases)[number];

function declaration(strategy: Case["strategy"]): unknown {
  const shared = strategy === "native" || strategy === "deferred";
  const retry = {
    attempts: 4,
    backoff:
      strategy === "native"
        ? { kind: "linear", first: "200ms", max: "400ms" }
        : { kind: "steps", delays: ["200ms", "400ms", "700ms"] },
  };
  const consumer = {
    from: { orders: ["order.*"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry,
    ...(shared ? {} : { crash: { deliveries: 3 } }),
  };
  return { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing: consumer, shipping: consumer } };
}

/** The endings of each message's deliveries, in order. After the last one the handler succeeds. */
const scripted: Readonly<Record<string, readonly Ending[]>> = {
  "success at once": ["success"],
  "success on attempt 2": ["transient", "success"],
  "success on the last attempt": ["transient", "transient", "transient", "success"],
  "always transient": Array<Ending>(12).fill("transient"),
  permanent: ["permanent"],
  "permanent after a failure": ["transient", "permanent"],
  "always crash": Array<Ending>(12).fill("crash"),
  "crash after failures": ["transient", "transient", ...Array<Ending>(12).fill("crash")],
  "crash and failure in turn": Array.from({ length: 24 }, (_, index): Ending =>
    index % 2 === 0 ? "crash" : "transient",
  ),
  "crashes between failures": [
    "transient",
    "crash",
    "crash",
    "crash",
    "transient",
    "transient",
    "transient",
    "transient",
  ],
  "crashes between failures, then success": ["transient", "crash", "crash", "crash", "transient", "success"],
  "returns between failures": ["transient", "return", "return", "return", "transient", "success"],
  "a crash, then success": ["crash", "success"],
  "returned, then success": ["return", "return", "success"],
  "returned on every attempt": [
    "return",
    "transient",
    "return",
    "transient",
    "return",
    "transient",
    "return",
    "transient",
  ],
};

describe.each(cases)("$name", ({ broker, strategy }) => {
  let system: DeployedSystem;
  let billing: DrivenConsumer;
  let shipping: DrivenConsumer;
  const endings = new Map<string, readonly Ending[]>(Object.entries(scripted));

  beforeAll(async () => {
    system = await deploy(broker, declaration(strategy), strategy);
    billing = await drive({
      url: system.url,
      contract: system.contract("billing"),
      instances: 16,
      decide: ({ id, runs }) => endings.get(id)?.[runs] ?? "success",
    });
    shipping = await drive({
      url: system.url,
      contract: system.contract("shipping"),
      instances: 4,
      decide: () => "success",
    });
  });
  afterAll(async () => {
    await billing.stop();
    await shipping.stop();
    await system.dispose();
  });

  test("each course goes as promised and never early, and the other consumer sees each message once", async () => {
    const ids = Object.keys(scripted);
    await system.publish(ids);
    await settle(system, billing, ids);
    const dead = await system.drain(system.contract("billing").deadQueue ?? "");
    for (const id of ids) expectCourse(id, dead);
    for (const id of ids)
      expect(
        shipping.seen.filter((each) => each.id === id),
        id,
      ).toHaveLength(1);
    expect(await system.drain(system.contract("shipping").deadQueue ?? "")).toEqual([]);
  });

  test("of 2000 messages with random outcomes each is done or dead as promised, and none is lost or doubled", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const weighted = fc.oneof(
      { weight: 40, arbitrary: fc.constant<Ending>("success") },
      { weight: 40, arbitrary: fc.constant<Ending>("transient") },
      { weight: 5, arbitrary: fc.constant<Ending>("permanent") },
      { weight: 8, arbitrary: fc.constant<Ending>("crash") },
      { weight: 7, arbitrary: fc.constant<Ending>("return") },
    );
    const drawn = fc.sample(fc.array(weighted, { minLength: 1, maxLength: 14 }), { seed, numRuns: 2_000 });
    const ids = drawn.map((each, index) => {
      endings.set(`r${index}`, each);
      return `r${index}`;
    });
    await system.publish(ids);
    await settle(system, billing, ids);
    const dead = await system.drain(system.contract("billing").deadQueue ?? "");
    for (const id of ids) expectCourse(id, dead, `seed ${seed}`);
    // No queue still holds a message.
    for (const queue of system.compiled.topology.queues) expect(await system.drain(queue.name), queue.name).toEqual([]);
  });

  /** Waits until all expected deliveries have come, and until nothing has happened for a while after that. */
  async function settle(deployed: DeployedSystem, consumer: DrivenConsumer, ids: readonly string[]): Promise<void> {
    const contract = deployed.contract("billing");
    const ofThese = new Set(ids);
    const wanted = ids.reduce(
      (sum, id) =>
        sum + expectedCourse(contract, broker.version, [...(endings.get(id) ?? []), "success"]).deliveries.length,
      0,
    );
    const longestDelayMs = Math.max(...contract.attempts.map((each) => each.delayMs));
    let quietSinceMs = Date.now();
    let count = -1;
    await until(100_000, () => {
      const now = consumer.seen.filter((each) => ofThese.has(each.id)).length;
      if (now !== count) quietSinceMs = Date.now();
      count = now;
      // One delivery too many would show up in this time.
      return Date.now() - quietSinceMs > (now >= wanted ? longestDelayMs + 300 : 10 * longestDelayMs);
    });
  }

  function expectCourse(
    id: string,
    dead: readonly { properties: { messageId?: unknown; headers?: unknown } }[],
    hint = "",
  ): void {
    const contract = system.contract("billing");
    const expected = expectedCourse(contract, broker.version, [...(endings.get(id) ?? []), "success"]);
    const seen = billing.seen.filter((each) => each.id === id);
    expect(
      seen.map(({ attempt, ending }) => ({ attempt, ending })),
      `${id} ${hint}`,
    ).toEqual(expected.deliveries);
    const deadLetters = dead.filter((each) => each.properties.messageId === id);
    expect(deadLetters, `dead letters of ${id} ${hint}`).toHaveLength(expected.end === "dead" ? 1 : 0);
    for (const [index, delivery] of seen.entries()) {
      const before = seen[index - 1];
      if (before === undefined || before.ending !== "transient") continue;
      const delayMs = contract.attempts[delivery.attempt - 1]?.delayMs ?? 0;
      // Both clocks count in whole milliseconds.
      expect(delivery.atMs - before.atMs, `${id}, attempt ${delivery.attempt} ${hint}`).toBeGreaterThanOrEqual(
        delayMs - 1,
      );
    }
  }

  test("a dead letter shows why it died", async () => {
    endings.set("why-transient", scripted["always transient"] ?? []);
    endings.set("why-crash", scripted["always crash"] ?? []);
    endings.set("why-permanent", ["permanent"]);
    await system.publish(["why-transient", "why-crash", "why-permanent"]);
    await settle(system, billing, ["why-transient", "why-crash", "why-permanent"]);
    const dead = await system.drain(system.contract("billing").deadQueue ?? "");
    const headersOf = (id: string): Record<string, unknown> =>
      (dead.find((each) => each.properties.messageId === id)?.properties.headers ?? {}) as Record<string, unknown>;
    expect(newestDeath(headersOf("why-crash"))).toMatchObject({ queue: "shop.billing", reason: "delivery_limit" });
    const exhausted = strategy === "native" ? "delivery_limit" : "rejected";
    expect(deathsIn(headersOf("why-transient"))).toContainEqual(
      expect.objectContaining({ queue: "shop.billing", reason: exhausted }),
    );
    const permanent = headersOf("why-permanent");
    if (strategy === "native")
      expect(newestDeath(permanent)).toMatchObject({ queue: "shop.billing", reason: "rejected" });
    else expect(permanent["dlq-failure-reason"] ?? permanent["x-opt-dlq-failure-reason"]).toBe("PERMANENT_FAILURE");
  });
});

interface Death {
  readonly queue: string;
  readonly reason: string;
  readonly count: number;
}

function deathsIn(headers: Record<string, unknown>): readonly Death[] {
  return (headers["x-death"] ?? []) as readonly Death[];
}

function newestDeath(headers: Record<string, unknown>): Death | undefined {
  return deathsIn(headers)[0];
}
