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

import type { Delivery } from "./adapter.ts";
import type { AnyContract } from "./contract.ts";
import type { ConsumeEvent } from "./event.ts";
import type { Verdict } from "./run-attempt.ts";
import type { Telemetry } from "./telemetry.ts";
import { attemptBefore, contextFields, contextOfMessage } from "./trace-context.ts";

export interface OpenTelemetryOptions {
  /** The global provider's unless said otherwise. */
  readonly tracer?: Tracer;
  /** The global provider's unless said otherwise. */
  readonly meter?: Meter;
}

const library = "redeliver";

/**
 * Spans and metrics of a consumer, by the OpenTelemetry API; whoever registers no SDK pays for nothing.
 *
 * A span for each attempt. Its parent is the context that the message came with, by the global propagator, and it is linked to that as well: a
 * retry keeps the headers of the message on every broker, so all its attempts are in the producer's trace, and a dead letter leads there too. Where the
 * consumer makes a copy of the message, or annotates it, the attempt's own context is on that, and the next attempt is linked to it. Nothing comes
 * from the body, nor from the message of an error, which may quote it: of an error there is the name.
 * Source: OpenTelemetry, "Semantic conventions for messaging spans", "Consumer spans":
 * https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
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
  // Without an SDK there is no span, and what stands for it has the context of its parent.
  if (isSpanContextValid(own) && own.spanId !== creation?.spanId) attempts.set(delivery, own);
  try {
    const verdict = await context.with(trace.setSpan(parent, span), run);
    conclude(span, verdict);
    return verdict;
  } finally {
    span.end();
  }
}

/** One link where the message got its context by its first attempt, and that is the attempt before. */
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

/** Source: OpenTelemetry, the well-known values of `messaging.system`. */
const systems: Readonly<Record<AnyContract["protocol"], string>> = {
  "amqp-0-9-1": "rabbitmq",
  "amqp-1.0": "rabbitmq",
  servicebus: "servicebus",
  sqs: "aws_sqs",
};

/** By the semantic conventions for messaging where they have a name for it. */
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
      description: "Messages that died by their consumer's word; not those whose consumer crashed",
    }),
    returned: meter.createCounter("redeliver.returned", { description: "Messages that were handed back" }),
    attempts: meter.createHistogram("redeliver.attempts", {
      description: "Attempts that a message took until it was done or dead",
      advice: { explicitBucketBoundaries: [1, 2, 3, 4, 5, 7, 10, 15, 20, 50] },
    }),
    handling: meter.createHistogram("redeliver.handling", {
      unit: "s",
      description: "From the handler's begin until the broker has its outcome",
    }),
    lag: meter.createHistogram("redeliver.lag", {
      unit: "s",
      description: "From the publishing of a message until its first attempt, where the broker tells",
    }),
  };
}

function recordLag({ lag }: Instruments, { consumer }: AnyContract, { attempt, publishedAt }: Delivery): void {
  if (attempt !== 1 || publishedAt === null) return;
  // The two clocks are of two machines.
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
