import { historyOf } from "./history.ts";
import { type Letter, isTable } from "./letter.ts";

/** The facts of a letter that people filter and group by. */
export interface LetterFacts {
  /** Its place in the queue, from 1, when the queue was read. */
  readonly position: number;
  /** The producer's own id. Null without one. */
  readonly messageId: string | null;
  /** A code, such as `PERMANENT_FAILURE`. Null if neither the consumer nor the broker says it. */
  readonly reason: string | null;
  /** The first line of the error. */
  readonly error: string | null;
  /** The type of the message, as its publisher names it. */
  readonly type: string | null;
  /** ISO 8601. */
  readonly diedAt: string | null;
  /** The queue that it died in. */
  readonly queue: string | null;
  /** The instance that failed. */
  readonly consumer: string | null;
  /** The attempts before it died, as its headers say it. */
  readonly attempts: string | null;
  /** The id that the producer gave to related messages. */
  readonly correlationId: string | null;
  /** The id of its trace, by W3C Trace Context. */
  readonly traceId: string | null;
  /** The publisher's own key, as far as the broker recorded it. */
  readonly routingKey: string;
  /** How often it has been sent again. */
  readonly generation: number;
  /** The id of the last redrive. */
  readonly redrive: string | null;
}

/** The fields that `describeDeadLetter` gives. */
export type Described = Readonly<Partial<Record<string, string>>>;

/** Headers of Spring and MassTransit. */
const errorHeaders = ["x-exception-message", "MT-Fault-Message"];
/** Headers of Spring, Celery and MassTransit. */
const typeHeaders = ["__TypeId__", "task", "MT-Fault-MessageType"];

/** Reads the facts of a letter. It never throws. */
export function factsOf(letter: Letter, described: Described): LetterFacts {
  const { headers, properties, position } = letter;
  const [last] = historyOf(letter);
  // Some brokers record an end beside the letter, and a copy in the parked queue lacks that record.
  const parked = last?.did === "parked" ? last : null;
  const stack = described["dlq-exception-stack-trace-summary"] ?? firstText(headers, errorHeaders);
  return {
    position,
    messageId: described["dlq-original-message-id"] ?? textOf(properties["messageId"]),
    reason: described["dlq-failure-reason"] ?? parked?.reason ?? null,
    error: stack?.split("\n")[0] ?? null,
    type: textOf(properties["type"]) ?? firstText(headers, typeHeaders),
    diedAt:
      described["dlq-failure-timestamp"] ?? latestDeath(headers["x-death"]) ?? textOf(headers["MT-Fault-Timestamp"]),
    queue: described["dlq-original-queue"] ?? parked?.queue ?? null,
    consumer: described["dlq-failing-consumer-info"] ?? null,
    attempts: described["dlq-retry-count"] ?? null,
    correlationId: described["dlq-business-correlation-id"] ?? textOf(properties["correlationId"]),
    traceId: /^[\da-f]{2}-([\da-f]{32})-/.exec(textOf(headers["traceparent"]) ?? "")?.[1] ?? null,
    routingKey: publishersKey(headers["x-death"]) ?? letter.routingKey,
    generation: last?.generation ?? 0,
    redrive: last?.redrive ?? null,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function firstText(headers: Letter["headers"], names: readonly string[]): string | null {
  return names.map((name) => textOf(headers[name])).find((text) => text !== null) ?? null;
}

function deathsIn(deaths: unknown): readonly Letter["headers"][] {
  return Array.isArray(deaths) ? deaths.filter(isTable) : [];
}

/** The broker records the first death in each queue. So this is the latest time that is certain. */
function latestDeath(deaths: unknown): string | null {
  const seconds = deathsIn(deaths).flatMap(({ time }) => {
    const value = isTable(time) ? time["value"] : undefined;
    return typeof value === "number" ? [value] : [];
  });
  const date = new Date(Math.max(...seconds) * 1_000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** The keys of the oldest death. */
function publishersKey(deaths: unknown): string | null {
  const keys = deathsIn(deaths).at(-1)?.["routing-keys"];
  return Array.isArray(keys) ? textOf(keys[0]) : null;
}
