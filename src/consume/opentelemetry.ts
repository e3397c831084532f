import "../node/required.ts";
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Link,
  type Meter,
  metrics,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";

import { brokers } from "../brokers/index.ts";
import type { Delivery } from "./port/adapter.ts";
import type { AnyContract } from "../contract/contract.ts";
import type { ConsumeEvent } from "./port/event.ts";
import type { Verdict } from "./run-attempt.ts";
import type { Telemetry } from "./telemetry.ts";
import { attemptBefore, contextFields, contextOfMessage } from "./trace-context.ts";

export interface OpenTelemetryOptions {
  /** The default is the global provider's. */
  readonly tracer?: Tracer;
  /** The default is the global provider's. */
  readonly meter?: Meter;
}

const library = "redeliver";

/**
 * Spans and metrics of a consumer through the OpenTelemetry API. Without a registered SDK it costs nothing.
 *
 * Each attempt has a span. Its parent, by the global propagator, is the context that the message came with, and the
 * span is linked to that as well. A retry keeps the message's headers on every broker. So all attempts are in the
 * producer's trace, and a dead letter leads there too. If the consumer copies or annotates the message, it adds the
 * attempt's own context, and the next attempt is linked to it. A span holds nothing from the body, and only the name of
 * an error: its message may quote the body. Source: OpenTelemetry, "Semantic conventions for messaging spans",
 * "Consumer spans": https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const tracer = options.tracer ?? trace.getTracer(library);
  const instruments = createInstruments(options.meter ?? metrics.getMeter(library));
  const attempts = new WeakMap<Delivery, SpanContext>();
  return {
    attempt: (contract, delivery, run) => {
      recordLag(instruments, contract, delivery);
      return traced(tracer, contract, delivery, attempts, run);
    },
    carried: (delivery) => {
      const attempt = attempts.get(delivery);
      return attempt === undefined ? {} : contextFields(delivery.carrier, attempt);
    },
    event: (contract, event) => count(instruments, contract, event),
  };
}

async function traced(
  tracer: Tracer,
  contract: AnyContract,
  delivery: Delivery,
  attempts: WeakMap<Delivery, SpanContext>,
  run: () => Promise<Verdict>,
): Promise<Verdict> {
  const parent = contextOfMessage(delivery.carrier);
  const creation = trace.getSpanContext(parent);
  const span = tracer.startSpan(
    `process ${contract.workQueue ?? contract.consumer}`,
    {
      kind: SpanKind.CONSUMER,
      attributes: attributesOf(contract, delivery),
      links: linksOf(creation, attemptBefore(delivery.carrier)),
    },
    parent,
  );
  const own = span.spanContext();
  // Without an SDK there is no span. Its stand-in has the context of the parent.
  if (isSpanContextValid(own) && own.spanId !== creation?.spanId) attempts.set(delivery, own);
  try {
    const verdict = await context.with(trace.setSpan(parent, span), run);
    conclude(span, verdict);
    return verdict;
  } finally {
    span.end();
  }
}

/** If the first attempt gave the message its context and is the attempt before, both are one link. */
function linksOf(creation: SpanContext | undefined, before: SpanContext | null): Link[] {
  const isSame = creation !== undefined && creation.spanId === before?.spanId;
  return [
    ...(creation === undefined || isSame ? [] : [linkTo(creation, "message")]),
    ...(before === null ? [] : [linkTo(before, "attempt-before")]),
  ];
}

function linkTo(context: SpanContext, what: "message" | "attempt-before"): Link {
  return { context, attributes: { "redeliver.link": what } };
}

const systems: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(brokers).flatMap(({ consuming: { libraries, messagingSystem } }) =>
    Object.keys(libraries).map((protocol) => [protocol, messagingSystem]),
  ),
);

/** Uses the names of the semantic conventions for messaging where they have one. */
function attributesOf(contract: AnyContract, { id, attempt }: Delivery): Attributes {
  return {
    "messaging.system": systems[contract.protocol],
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    ...(contract.workQueue === null ? {} : { "messaging.destination.name": contract.workQueue }),
    ...(id === null ? {} : { "messaging.message.id": id }),
    "redeliver.consumer": contract.consumer,
    "redeliver.attempt": attempt,
    "redeliver.attempts": contract.attempts.length,
  };
}

function conclude(span: Span, verdict: Verdict): void {
  span.setAttribute("redeliver.outcome", verdict.outcome);
  if (verdict.outcome === "success") return;
  if (verdict.reason !== null) span.setAttribute("redeliver.reason", verdict.reason);
  span.setAttribute("error.type", verdict.error instanceof Error ? verdict.error.name : "_OTHER");
  span.setStatus({ code: SpanStatusCode.ERROR });
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: Meter) {
  return {
    processed: meter.createCounter("redeliver.processed", { description: "Attempts that ended, by their outcome" }),
    failed: meter.createCounter("redeliver.failed", { description: "Attempts that failed, by class" }),
    retried: meter.createCounter("redeliver.retried", { description: "Failures that another attempt follows" }),
    deadLettered: meter.createCounter("redeliver.dead_lettered", {
      description: "Messages that their consumer let die; without those that died of crashes",
    }),
    returned: meter.createCounter("redeliver.returned", { description: "Returned messages" }),
    attempts: meter.createHistogram("redeliver.attempts", {
      description: "Attempts that a message took until it was done or dead",
      advice: { explicitBucketBoundaries: [1, 2, 3, 4, 5, 7, 10, 15, 20, 50] },
    }),
    handling: meter.createHistogram("redeliver.handling", {
      unit: "s",
      description: "From the start of the handler until the broker has its outcome",
    }),
    lag: meter.createHistogram("redeliver.lag", {
      unit: "s",
      description: "From the publishing of a message until its first attempt, if the broker reports it",
    }),
  };
}

function recordLag({ lag }: Instruments, { consumer }: AnyContract, { attempt, publishedAt }: Delivery): void {
  if (attempt !== 1 || publishedAt === null) return;
  // The clocks of two machines may differ.
  lag.record(Math.max(0, Date.now() - publishedAt.getTime()) / 1_000, { "redeliver.consumer": consumer });
}

function count(instruments: Instruments, contract: AnyContract, event: ConsumeEvent): void {
  const labels = { "redeliver.consumer": contract.consumer };
  if (event.kind === "returned") instruments.returned.add(1, labels);
  if (event.kind !== "settled") return;
  const { outcome, attempt, durationMs } = event;
  instruments.processed.add(1, { ...labels, "redeliver.outcome": outcome });
  instruments.handling.record(durationMs / 1_000, { ...labels, "redeliver.outcome": outcome });
  const isRetried = outcome === "transient" && attempt < contract.attempts.length;
  if (outcome !== "success") instruments.failed.add(1, { ...labels, "redeliver.class": outcome });
  if (isRetried) {
    instruments.retried.add(1, labels);
    return;
  }
  instruments.attempts.record(attempt, { ...labels, "redeliver.outcome": outcome });
  if (outcome !== "success") instruments.deadLettered.add(1, labels);
}
