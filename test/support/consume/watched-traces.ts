import { propagation, ROOT_CONTEXT, type SpanContext, trace } from "@opentelemetry/api";
import { type ExpectStatic } from "vitest";

import type { OutcomeName } from "../../../src/contract/contract.ts";
import type { AnyContract } from "../../../src/contract/contract.ts";
import { operationsAfter } from "../../../src/contract/interpret.ts";
import { type CourseLetter, type CourseRun, producer, sentAgain, type Watched } from "./watched-course.ts";

/** Operations that let a consumer write on the message or its copy. */
const writing = new Set(["basic.publish", "modified", "SendMessage", "schedule", "send", "abandon", "deadLetter"]);

/** True if the contract lets the consumer write on the message after an attempt. */
export function isWritten({ outcomes }: AnyContract, outcome: OutcomeName, attempt: number): boolean {
  return operationsAfter(outcomes[outcome], attempt).some(({ operation }) => writing.has(operation));
}

/** The end of an attempt of a message, from the message's name. */
function outcomeOf({ name, attempt }: CourseRun): OutcomeName {
  const [end] = name.split("-");
  if (end === "dies") return "permanent";
  return end === "fails" || (end === "hangs" && attempt === 1) ? "transient" : "success";
}

type Texts = CourseLetter["texts"];

/** The contexts on a message: the one of its attempts, and the one of the last attempt that could write on it. */
interface Carried {
  readonly origin: SpanContext | null;
  readonly before: SpanContext | null;
}

/**
 * Each attempt is in the producer's trace. Without one, it is in the trace of the first attempt that could write on the
 * message. It is linked to the attempt before, and the dead letter carries both. The contract says which operations can
 * write; all others leave the message as it is.
 */
export function expectTraces(expect: ExpectStatic, watched: Watched): void {
  for (const name of new Set(watched.runs.map((run) => run.name))) {
    const runs = watched.runs.filter((run) => run.name === name);
    const carried = carriedAtEnd(watched, name);
    for (const [index, run] of runs.entries()) {
      const before = runs
        .slice(0, index)
        .reduce((sofar, each) => carriedOn(watched, each, sofar), carriedAtFirst(watched, name));
      expectSpan(expect, watched, run, before);
    }
    const letters = watched.letters.filter((each) => each.name === name).map(({ texts }) => texts);
    const isDead = runs.every((run) => outcomeOf(run) !== "success");
    expect([name, letters.map(contextsOn)]).toEqual([
      name,
      isDead ? [[idsOf(carried.origin), idsOf(carried.before)]] : [],
    ]);
  }
}

function carriedAtFirst(watched: Watched, name: string): Carried {
  if (name === sentAgain) return carriedAtEnd(watched, "dies-alone");
  return { origin: name.endsWith("-alone") ? null : producer, before: null };
}

function carriedAtEnd(watched: Watched, name: string): Carried {
  const runs = watched.runs.filter((run) => run.name === name);
  return runs.reduce((carried, run) => carriedOn(watched, run, carried), carriedAtFirst(watched, name));
}

function carriedOn({ contract }: Watched, run: CourseRun, { origin, before }: Carried): Carried {
  return isWritten(contract, outcomeOf(run), run.attempt)
    ? { origin: origin ?? run.span, before: run.span }
    : { origin, before };
}

function expectSpan(expect: ExpectStatic, { spans }: Watched, run: CourseRun, { origin, before }: Carried): void {
  const span = spans.find((each) => each.spanContext().spanId === run.span.spanId);
  const isSame = origin !== null && origin.spanId === before?.spanId;
  expect({
    name: run.name,
    attempt: span?.attributes["redeliver.attempt"],
    trace: span?.spanContext().traceId,
    parent: span?.parentSpanContext?.spanId,
    links: span?.links.map(({ context, attributes }) => [attributes?.["redeliver.link"], context.spanId]),
  }).toEqual({
    name: run.name,
    attempt: run.attempt,
    trace: origin?.traceId ?? run.span.traceId,
    parent: origin?.spanId,
    links: [
      ...(origin === null || isSame ? [] : [["message", origin.spanId]]),
      ...(before === null ? [] : [["attempt-before", before.spanId]]),
    ],
  });
}

function contextsOn(texts: Texts): readonly ReturnType<typeof idsOf>[] {
  return [contextIn(texts, ""), contextIn(texts, "redeliver-attempt-")];
}

/** Reads like a program that has the API of OpenTelemetry and knows the prefix of the names. */
function contextIn(texts: Texts, before: string): ReturnType<typeof idsOf> {
  const found = propagation.extract<Texts>(ROOT_CONTEXT, texts, {
    keys: (carrier) => Object.keys(carrier),
    get: (carrier, name) => carrier[`${before}${name}`] as string | undefined,
  });
  return idsOf(trace.getSpanContext(found) ?? null);
}

function idsOf(context: SpanContext | null): readonly string[] | null {
  return context === null ? null : [context.traceId, context.spanId];
}
