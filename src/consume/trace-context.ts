import {
  type Context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";

import type { Delivery } from "./port/adapter.ts";

type Carrier = Delivery["carrier"];

/** The prefix under which an attempt writes its own context: `redeliver-attempt-traceparent`. */
const ofAttempt = "redeliver-attempt-";

/** The context that the message came with, by the global propagator. */
export function contextOfMessage(carrier: Carrier): Context {
  return propagation.extract(ROOT_CONTEXT, carrier, textsOf(""));
}

/**
 * The context of the failed attempt before, if it could write on the message. For a dead letter that was sent again,
 * that is its last attempt.
 */
export function attemptBefore(carrier: Carrier): SpanContext | null {
  const found = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, textsOf(ofAttempt)));
  return found !== undefined && isSpanContextValid(found) ? found : null;
}

/**
 * The fields that an attempt writes on its message. The context that came with a message is its creation context, and
 * only its producer may change it. So the attempt's own context has its own names. A message without a context gets
 * that of its first attempt under the usual names: then everything later belongs to its trace. Source: OpenTelemetry,
 * "Semantic conventions for messaging spans", "Context propagation".
 */
export function contextFields(carrier: Carrier, attempt: SpanContext): Readonly<Record<string, string>> {
  const injected: Record<string, string> = {};
  propagation.inject(trace.setSpanContext(ROOT_CONTEXT, attempt), injected);
  const fields: Record<string, string> = {};
  const isFirst = trace.getSpanContext(contextOfMessage(carrier)) === undefined;
  for (const [name, text] of Object.entries(injected)) {
    // A field that the propagator cannot read may serve another reader, so it stays.
    if (isFirst && carrier[name] === undefined) fields[name] = text;
    fields[`${ofAttempt}${name}`] = text;
  }
  return fields;
}

/** Reads only texts, because brokers also have numbers and bytes. */
function textsOf(before: string): TextMapGetter<Carrier> {
  return {
    keys: (carrier) =>
      Object.keys(carrier).flatMap((name) => (name.startsWith(before) ? [name.slice(before.length)] : [])),
    get: (carrier, name) => {
      const value = carrier[`${before}${name}`];
      return typeof value === "string" ? value : undefined;
    },
  };
}
