import { type SpanContext, trace } from "@opentelemetry/api";
import { type ConsumeEvent, type Handler, permanent, type Redact, type Telemetry } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";
import { type ExpectStatic } from "vitest";
import { z } from "zod";

import type { AnyContract } from "../../../src/contract/contract.ts";
import { until } from "../deployed-system.ts";
import { type Metrics, type Monitoring, startMonitoring } from "../telemetry.ts";

/**
 * The attempts that the watched consumer must be declared with. Three are the first, the one before, and the one that
 * follows.
 */
export const attemptsOfCourse = 3;
/** The handler timeout that it must be declared with, too. */
export const handlerTimeoutOfCourse = "5s";
/** In every body, and in no other place that people could read. */
export const secret = "eve@example.com";
export const routingKeyOfCourse = "order.placed";

export const producer: SpanContext = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: 1,
};

/** A message of the course. */
export interface CourseMessage {
  readonly name: string;
  readonly body: string;
  /** The producer's context, if it sends one. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A consumer and its queues on some broker. */
export interface WatchedStage {
  readonly contract: AnyContract;
  readonly publish: (messages: readonly CourseMessage[]) => Promise<void>;
  readonly consume: (
    handler: Handler<{ readonly id: string }>,
    options: {
      readonly body: "json";
      readonly schema: never;
      readonly breaker: false;
      readonly telemetry: Telemetry;
      readonly redact: Redact;
    },
  ) => Promise<{ readonly events: readonly ConsumeEvent[]; readonly stop: (within: "0ms") => Promise<void> }>;
  /** The dead letters so far: the data beside their bodies, under the consumer's names. */
  readonly letters: () => Promise<readonly CourseLetter[]>;
}

export interface CourseLetter {
  readonly name: string;
  readonly texts: Readonly<Record<string, unknown>>;
  /** The headers for sending it again: all that the broker shows, in its form. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** One run of the handler. */
export interface CourseRun {
  readonly name: string;
  readonly attempt: number;
  readonly beganAtMs: number;
  readonly span: SpanContext;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly id: string | null;
  readonly routingKey: string | null;
}

/** All observations of some messages. */
export interface Watched {
  readonly contract: AnyContract;
  readonly runs: readonly CourseRun[];
  readonly letters: readonly CourseLetter[];
  readonly events: readonly ConsumeEvent[];
  readonly spans: ReturnType<Monitoring["spans"]>;
  readonly metrics: Metrics;
  /** The inputs of redaction, as they were. */
  readonly redacted: readonly string[];
  /** Errors of the handler. Some contain texts that no error should. */
  readonly thrown: ReadonlySet<unknown>;
}

/** Each possible end of a message, by its name. Names ending in `alone` come without a context. */
const messages: readonly CourseMessage[] = [
  ...["fails", "dies", "works"].map((name) => messageOf(name, true)),
  ...["fails-alone", "dies-alone", "hangs-alone"].map((name) => messageOf(name, false)),
  { ...messageOf("unreadable", true), body: `{ "id": "unreadable", ${secret}` },
  { ...messageOf("unfit", false), body: JSON.stringify({ id: "unfit", customer: [secret] }) },
];
const deadOnes = ["dies", "dies-alone", "fails", "fails-alone", "unfit", "unreadable"];
/** A handler that now succeeds gets the letter of `dies-alone` once more. */
export const sentAgain = "works-again";
/** Two fail each time, and one the first time; the other five have one attempt. */
const attemptsSettled = 2 * attemptsOfCourse + 2 + 5;

function messageOf(name: string, isTraced: boolean): CourseMessage {
  const { traceId, spanId } = producer;
  return {
    name,
    body: JSON.stringify({ id: name, customer: secret }),
    headers: isTraced ? { traceparent: `00-${traceId}-${spanId}-01` } : {},
  };
}

/** The name of a message, by its body: those of SQS have no id of their own. */
export function nameIn(body: string): string {
  return /"id": ?"([a-z-]+)"/.exec(body)?.[1] ?? body;
}

/** The actions of its handler, and the records of it. */
interface Course {
  readonly runs: CourseRun[];
  readonly thrown: Set<unknown>;
  readonly handler: Handler<{ readonly id: string }>;
  /** Called in the middle of the message that stays. */
  stop: () => void;
}

function createCourse(): Course {
  const thrown = new Set<unknown>();
  const fail = (error: Error): never => {
    thrown.add(error);
    throw error;
  };
  const runs: CourseRun[] = [];
  const course: Course = {
    runs,
    thrown,
    stop: () => undefined,
    handler: async ({ body, id, routingKey, headers }, { number: attempt, signal }) => {
      const span = trace.getActiveSpan()?.spanContext();
      if (span === undefined) throw new Error("the handler runs in no span");
      runs.push({ name: body.id, attempt, beganAtMs: Date.now(), span, headers, id, routingKey });
      const [end] = body.id.split("-");
      if (end === "fails") fail(new TypeError(`${secret} is unknown`));
      if (end === "dies") fail(permanent("UNKNOWN_CUSTOMER", new Error(`cannot find ${secret}`)));
      if (end === "works" || (end === "hangs" && attempt > 1)) return;
      if (end === "stays") course.stop();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  return course;
}

/** Sends messages through each possible end until all are settled. Then it stops the consumer in the middle of one. */
export async function watchCourse(stage: WatchedStage): Promise<Watched> {
  const monitoring = startMonitoring();
  const redacted: string[] = [];
  const course = createCourse();
  const consumer = await stage.consume(course.handler, {
    body: "json",
    schema: z.object({ id: z.string(), customer: z.string() }) as never,
    breaker: false,
    telemetry: openTelemetry(monitoring.options),
    redact: (_, value) => {
      redacted.push(value);
      return value.replaceAll(secret, "(customer)");
    },
  });
  const { events } = consumer;
  const settled = (): number => events.filter(({ kind }) => kind === "settled").length;
  try {
    await stage.publish(messages);
    await until(180_000, () => settled() === attemptsSettled);
    let letters: readonly CourseLetter[] = [];
    await until(60_000, async () => (letters = await stage.letters()).length >= deadOnes.length);
    const dead = letters.find(({ name }) => name === "dies-alone");
    await stage.publish([{ ...messageOf(sentAgain, false), headers: dead?.headers ?? {} }]);
    await until(60_000, () => settled() === attemptsSettled + 1);
    course.stop = () => void consumer.stop("0ms");
    await stage.publish([messageOf("stays-alone", false)]);
    await until(60_000, () => events.some(({ kind }) => kind === "returned"));
    // That of the one that stays ends when its handler does.
    await until(60_000, () => monitoring.spans().length === attemptsSettled + 2);
    return {
      contract: stage.contract,
      runs: course.runs,
      thrown: course.thrown,
      spans: [...monitoring.spans()],
      metrics: await monitoring.metrics(),
      letters,
      events,
      redacted,
    };
  } finally {
    await consumer.stop("0ms");
    await monitoring.shutdown();
  }
}

/** Every metric counts its events, under its own label. */
export function expectMetrics(expect: ExpectStatic, { metrics }: Watched): void {
  const some = (count: number): object => ({ count, sum: expect.any(Number) as number });
  expect(metrics).toEqual({
    "redeliver.processed{success}": 3,
    "redeliver.processed{transient}": 2 * attemptsOfCourse + 1,
    "redeliver.processed{permanent}": 4,
    "redeliver.failed{transient}": 2 * attemptsOfCourse + 1,
    "redeliver.failed{permanent}": 4,
    "redeliver.retried": 2 * (attemptsOfCourse - 1) + 1,
    "redeliver.dead_lettered": deadOnes.length,
    "redeliver.returned": 1,
    "redeliver.attempts{success}": { count: 3, sum: 1 + 1 + 2 },
    "redeliver.attempts{transient}": { count: 2, sum: 2 * attemptsOfCourse },
    "redeliver.attempts{permanent}": { count: 4, sum: 4 },
    "redeliver.handling{success}": some(3),
    "redeliver.handling{transient}": some(2 * attemptsOfCourse + 1),
    "redeliver.handling{permanent}": some(4),
    // Each message once, including those that no handler sees and the returned one.
    "redeliver.lag": some(messages.length + 2),
  });
}
