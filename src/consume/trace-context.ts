import {
  type Context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";

import type { Delivery } from "./adapter.ts";

type Carrier = Delivery["carrier"];

/** An attempt writes its own context under the propagator's names with this before them: `redeliver-attempt-traceparent`. */
const ofAttempt = "redeliver-attempt-";

/** The context that the message came with, by the global propagator. */
export function contextOfMessage(carrier: Carrier): Context {
  return propagation.extract(ROOT_CONTEXT, carrier, textsOf(""));
}

/** The attempt that failed before, where it could write on the message; of a dead letter that was sent again the one that it died of. */
export function attemptBefore(carrier: Carrier): SpanContext | null {
  const found = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, textsOf(ofAttempt)));
  return found !== undefined && isSpanContextValid(found) ? found : null;
}

/**
 * What an attempt writes on its message. The context that a message came with is its creation context, and nobody but its producer may change
 * that, so the attempt's own has names of its own. Only a message that came with none gets the first attempt's under the usual names: then all that
 * follows is in the trace of that. Source: OpenTelemetry, "Semantic conventions for messaging spans", "Context propagation".
 */
export function contextFields(carrier: Carrier, attempt: SpanContext): Readonly<Record<string, string>> {
  const injected: Record<string, string> = {};
  propagation.inject(trace.setSpanContext(ROOT_CONTEXT, attempt), injected);
  const fields: Record<string, string> = {};
  const isFirst = trace.getSpanContext(contextOfMessage(carrier)) === undefined;
  for (const [name, text] of Object.entries(injected)) {
    // What the message has and the propagator cannot read may be of use to somebody else.
    if (isFirst && carrier[name] === undefined) fields[name] = text;
    fields[`${ofAttempt}${name}`] = text;
  }
  return fields;
}

/** Values that are texts; brokers also have numbers and bytes. */
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
