import { ProxyTracerProvider, propagation, ROOT_CONTEXT, type SpanContext, trace } from "@opentelemetry/api";
import { AlwaysOffSampler, BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { beforeAll, describe, expect, test } from "vitest";
import { type ConsumeOptions, permanent, retryAfter } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";

import type { Adapter, Delivery, SettleValues } from "../../src/consume/port/adapter.ts";
import { prepare } from "../../src/consume/consume.ts";
import { runConsumer } from "../../src/consume/run-consumer.ts";
import { createScriptedBroker } from "../support/consume/scripted-adapter.ts";
import { until } from "../support/deployed-system.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { registerGlobals, startMonitoring } from "../support/telemetry.ts";

beforeAll(registerGlobals);

const script = { opens: [], settles: [], resumes: [], pauses: [], closes: [], unstarted: "hold" } as const;
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** The values of one settlement, and the span that was active. */
interface Told {
  readonly values: SettleValues;
  readonly span: SpanContext | undefined;
}

const declared = oneConsumer({
  retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" }, retryAfter: { max: "1m" } },
});

/** Lets a consumer handle one message with these headers, and fail. */
async function toldOf(
  telemetry: ConsumeOptions["telemetry"],
  carrier: Delivery["carrier"],
  error = permanent("NEVER"),
): Promise<Told & { readonly attempt: SpanContext | undefined }> {
  const prepared = accepted(
    prepare(checked(declared), "billing", {
      target: { broker: "rabbitmq", version: "4.3", strategy: "waits" },
      connection: { url: "amqp://localhost" },
      telemetry,
    }),
  );
  const told: Told[] = [];
  let attempt: SpanContext | undefined;
  const broker = createScriptedBroker(script);
  const adapter: Adapter = {
    ...broker.adapter,
    open: async (opening) => {
      const session = await broker.adapter.open(opening);
      return {
        ...session,
        settle: (delivery, operations, values) => {
          told.push({ values, span: trace.getActiveSpan()?.spanContext() });
          return session.settle(delivery, operations, values);
        },
      };
    },
  };
  const running = await runConsumer({
    adapter,
    opening: { ...prepared, connection: { url: "amqp://localhost" } } as never,
    settings: prepared.settings,
    handler: () => {
      attempt = trace.getActiveSpan()?.spanContext();
      throw error;
    },
  });
  broker.deliver("a", 1, carrier);
  await until(20_000, () => told.length === 1);
  await running.stop("0ms");
  return { ...(told[0] as Told), attempt };
}

const textOf = (context: SpanContext | undefined): string | undefined => {
  const written: Record<string, string> = {};
  if (context !== undefined) propagation.inject(trace.setSpanContext(ROOT_CONTEXT, context), written);
  return written["traceparent"];
};

describe("the context that an attempt writes on its message", () => {
  test("is its own, beside the unchanged one of the producer", async () => {
    const monitoring = startMonitoring();
    const { values, attempt } = await toldOf(openTelemetry(monitoring.options), { traceparent });
    expect(values.carried).toEqual({ "redeliver-attempt-traceparent": textOf(attempt) });
    await monitoring.shutdown();
  });

  test.for([new Error("again"), retryAfter("5s"), retryAfter("1h")])(
    "is written for any kind of next attempt: %s",
    async (error) => {
      const monitoring = startMonitoring();
      const { values, attempt } = await toldOf(openTelemetry(monitoring.options), { traceparent }, error);
      expect(values.carried).toEqual({ "redeliver-attempt-traceparent": textOf(attempt) });
      await monitoring.shutdown();
    },
  );

  test("has the vendor's part of the trace, and no baggage, which the message keeps", async () => {
    const monitoring = startMonitoring();
    const carrier = { traceparent, tracestate: "vendor=1", baggage: "customer=eve" };
    const { values, attempt } = await toldOf(openTelemetry(monitoring.options), carrier);
    expect(values.carried).toEqual({
      "redeliver-attempt-traceparent": textOf(attempt),
      "redeliver-attempt-tracestate": "vendor=1",
    });
    await monitoring.shutdown();
  });

  test("has both names if the message came without a context", async () => {
    const monitoring = startMonitoring();
    const { values, attempt } = await toldOf(openTelemetry(monitoring.options), {});
    const own = textOf(attempt);
    expect(values.carried).toEqual({ traceparent: own, "redeliver-attempt-traceparent": own });
    await monitoring.shutdown();
  });

  test.for(["no context", Buffer.from(traceparent)])("never replaces a field that cannot be read: %s", async (text) => {
    const monitoring = startMonitoring();
    const { values, attempt } = await toldOf(openTelemetry(monitoring.options), { traceparent: text });
    expect(values.carried).toEqual({ "redeliver-attempt-traceparent": textOf(attempt) });
    await monitoring.shutdown();
  });

  test("also says that the trace is not recorded", async () => {
    const tracers = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
    const { values } = await toldOf(openTelemetry({ tracer: tracers.getTracer("test") }), {});
    expect(values.carried["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  test.for([{}, { traceparent }])("is empty without an SDK: %o", async (carrier) => {
    const { values } = await toldOf(openTelemetry({ tracer: new ProxyTracerProvider().getTracer("test") }), carrier);
    expect(values.carried).toEqual({});
  });

  test("is empty if a custom telemetry throws, rejects or returns values that no broker accepts", async () => {
    const attempt = async (_: unknown, __: unknown, run: () => Promise<never>): Promise<never> => run();
    const event = (): void => undefined;
    const answers: readonly (() => unknown)[] = [
      () => {
        throw new Error("no");
      },
      () => Promise.reject(new Error("no")),
      () => ({ number: 1, nothing: undefined, list: [] }),
      () => null,
      () => undefined,
    ];
    for (const carried of [...answers, undefined]) {
      const { values } = await toldOf({ attempt, event, ...(carried && { carried }) } as never, {});
      expect(values.carried).toEqual({});
    }
  });
});

test("a settlement runs in the context of its attempt, so an instrumented client library writes no other trace on a copy", async () => {
  const monitoring = startMonitoring();
  const { span, attempt } = await toldOf(openTelemetry(monitoring.options), { traceparent });
  expect(span?.traceId).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(span?.spanId).toBe(attempt?.spanId);
  await monitoring.shutdown();
});
