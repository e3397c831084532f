import { trace } from "@opentelemetry/api";
import { beforeAll, describe, expect, test } from "vitest";
import { createMemoryStore, describeDeadLetter, once, permanent } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";

import { consumeFrom } from "../support/consume/consumed.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { registerGlobals, startMonitoring } from "../support/telemetry.ts";

const cases = brokers().flatMap((broker) =>
  (broker.version === "4.3"
    ? (["native", "deferred", "staged", "waits"] as const)
    : (["staged", "waits"] as const)
  ).map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
);
const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${spanId}-01`;

const declarationFor = (strategy: string, attempts = 3): object => ({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: "all" },
      retry: { attempts, backoff: { kind: "constant", delay: "200ms" } },
      ...(strategy === "deferred" ? { protocol: "amqp-1.0" } : {}),
    },
  },
});

/** Publishes messages with a header each, some of them more than once. */
async function publish(
  { channel }: DeployedSystem,
  messages: readonly { readonly messageId: string; readonly headers: object }[],
): Promise<void> {
  for (const properties of messages)
    channel.publish("shop.orders", "order.placed", Buffer.from('{"customer":"eve@example.com"}'), properties);
  await channel.waitForConfirms();
}

beforeAll(registerGlobals);

describe.concurrent.each(cases)("a watched consumer: $name", ({ broker, strategy }) => {
  test("every attempt and the dead letter are in the producer's trace, which no secret is in", async () => {
    const declaration = declarationFor(strategy);
    const system = await deploy(broker, declaration, strategy);
    const contract = system.contract("billing");
    const monitoring = startMonitoring();
    const active: (string | undefined)[] = [];
    const options = {
      telemetry: openTelemetry(monitoring.options),
      redact: (_: string, value: string) => value.replaceAll("eve@example.com", "(customer)"),
    };
    const consumed = await consumeFrom(
      system,
      { broker, declaration, consumer: "billing", strategy, options },
      ({ id }) => {
        active.push(trace.getActiveSpan()?.spanContext().traceId);
        if (id === "fails") throw new TypeError("eve@example.com is unknown");
        if (id === "dies") throw permanent("UNKNOWN_CUSTOMER", new Error("eve@example.com is unknown"));
      },
    );
    try {
      const messages = ["fails", "dies", "works"].map((messageId) => ({ messageId, headers: { traceparent } }));
      await publish(system, messages);
      await until(60_000, () => monitoring.spans().length === 5);
      const queue = contract.deadQueue ?? "";
      await until(60_000, async () => (await system.channel.checkQueue(queue)).messageCount === 2);
      expect(active).toEqual(Array.from({ length: 5 }, () => traceId));
      for (const span of monitoring.spans()) {
        expect([span.spanContext().traceId, span.parentSpanContext?.spanId]).toEqual([traceId, spanId]);
        expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain("eve@example.com");
      }
      const letters = await system.drain(queue);
      expect(letters.map(({ properties }) => (properties.headers as Record<string, unknown>)["traceparent"])).toEqual([
        traceparent,
        traceparent,
      ]);
      for (const { properties } of letters) expect(JSON.stringify(properties)).not.toContain("eve@example.com");
      const described = letters.map((letter) => [
        letter.properties.messageId as string,
        describeDeadLetter(letter, contract)["dlq-failure-reason"],
      ]);
      expect(Object.fromEntries(described)).toEqual({
        // Natively the broker does it at once, and only its own reason is on the letter.
        dies: strategy === "native" ? "PERMANENT_FAILURE" : "UNKNOWN_CUSTOMER",
        fails: "ATTEMPTS_EXHAUSTED",
      });
      await until(60_000, () => consumed.events.filter(({ kind }) => kind === "settled").length === 5);
      expect(await monitoring.metrics()).toMatchObject({
        "redeliver.processed{success}": 1,
        "redeliver.processed{transient}": 3,
        "redeliver.processed{permanent}": 1,
        "redeliver.retried": 2,
        "redeliver.dead_lettered": 2,
        "redeliver.attempts{transient}": { count: 1, sum: 3 },
      });
    } finally {
      await consumed.running.stop();
      await monitoring.shutdown();
      await system.dispose();
    }
  });

  test("a guarded handler runs once for a message that is published several times", async () => {
    // A copy that comes while the first one is handled spends attempts until that is done.
    const declaration = declarationFor(strategy, 20);
    const system = await deploy(broker, declaration, strategy);
    const contract = system.contract("billing");
    const ran: unknown[] = [];
    let ends = 0;
    const guarded = once(
      { store: createMemoryStore(), consumer: "billing", expires: "1m", keep: "1h" },
      async ({ id }) => {
        ran.push(id);
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    );
    const consumed = await consumeFrom(
      system,
      { broker, declaration, consumer: "billing", strategy, options: { breaker: false } },
      async (_, message, attempt) => {
        await guarded(message, attempt);
        ends++;
      },
    );
    try {
      await publish(
        system,
        ["one", "two", "one", "one", "two"].map((messageId) => ({ messageId, headers: {} })),
      );
      await until(60_000, () => ends === 5);
      expect(ran.toSorted()).toEqual(["one", "two"]);
      expect((await system.channel.checkQueue(contract.deadQueue ?? "")).messageCount).toBe(0);
    } finally {
      await consumed.running.stop();
      await system.dispose();
    }
  });
});
