import { context, propagation } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

import type { OpenTelemetryOptions } from "../../src/consume/opentelemetry.ts";

export type Metrics = Readonly<Record<string, number | { readonly count: number; readonly sum: number }>>;

/** The real SDK. It keeps in memory the data that it would send. */
export interface Monitoring {
  readonly options: Required<OpenTelemetryOptions>;
  readonly spans: () => readonly ReadableSpan[];
  /** By `name` or `name{label}`: the sum of a counter, or the number and the sum of a histogram's values. */
  readonly metrics: () => Promise<Metrics>;
  readonly shutdown: () => Promise<void>;
}

/** Context and propagation belong to the process. So a test file sets them once, as the SDK for Node does by itself. */
export function registerGlobals(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
}

export function startMonitoring(): Monitoring {
  const spanExporter = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  return {
    options: { tracer: tracers.getTracer("test"), meter: meters.getMeter("test") },
    spans: () => spanExporter.getFinishedSpans(),
    metrics: async () => {
      metricExporter.reset();
      await reader.forceFlush();
      const found = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      const points = found.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => {
            const { "redeliver.consumer": _consumer, ...labels } = attributes;
            const label = Object.values(labels).join();
            const name = label === "" ? descriptor.name : `${descriptor.name}{${label}}`;
            return [name, typeof value === "number" ? value : countAndSum(value)] as const;
          }),
        ),
      );
      return Object.fromEntries(points);
    },
    shutdown: async () => {
      await tracers.shutdown();
      await meters.shutdown();
    },
  };
}

function countAndSum(value: object): { readonly count: number; readonly sum: number } {
  const { count = 0, sum = 0 } = value as { readonly count?: number; readonly sum?: number };
  return { count, sum };
}
