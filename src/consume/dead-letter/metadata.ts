import { cut } from "./cut.ts";
import type { DeadLetterField, ReasonCode } from "../port/dead-letter-fields.ts";
import { summarise } from "./summarise.ts";

/** The failing consumer's own description, for readers of the dead letter. */
export interface ConsumerInfo {
  /** The name of the service, such as `billing-api`. */
  readonly service: string;
  /** The version or the commit of its code. */
  readonly version?: string;
  /** Such as `prod`. */
  readonly environment?: string;
  /** The machine or the container. */
  readonly hostname?: string;
  /** The id of the process. */
  readonly pid?: number;
}

/**
 * Decides which text of an error a dead letter holds: the value, another one, or null for none. It sees the whole value
 * before anything is cut. If it throws, the field is left out, and the dead letter is not lost.
 */
export type Redact = (field: DeadLetterField, value: string) => string | null;

export interface FailureContext {
  readonly workQueue: string;
  /**
   * A code, or the application's own text. If redaction removes it, the contract's reason stays, such as
   * `PERMANENT_FAILURE`.
   */
  readonly reason: ReasonCode | (string & {});
  readonly failedAt: Date;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly consumer: ConsumerInfo;
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly redact?: Redact;
}

/** A stack trace can have any length, and headers travel with every copy. */
const maxStackBytes = 2_048;
/** More than the 255 bytes of a RabbitMQ name, which is the longest of the other values. */
const maxFieldBytes = 512;

/**
 * The fields that a consumer writes on a message for the dead queue. Their sizes are limited, and a mark shows each
 * cut.
 */
export function deadLetterMetadata(
  error: unknown,
  context: FailureContext,
): Readonly<Partial<Record<DeadLetterField, string>>> {
  const { workQueue, failedAt, attempt, reason, consumer, messageId, correlationId, redact = keep } = context;
  const told = (field: DeadLetterField, value: string | undefined, maxBytes = maxFieldBytes) => {
    const text = value === undefined || value === "" ? null : redacted(redact, field, value);
    return text === null || text === "" ? {} : { [field]: cut(printable(text), maxBytes) };
  };
  return Object.freeze({
    "dlq-original-queue": workQueue,
    ...told("dlq-failure-reason", reason),
    "dlq-failure-timestamp": failedAt.toISOString(),
    "dlq-retry-count": String(attempt),
    ...told("dlq-original-message-id", messageId),
    ...told("dlq-business-correlation-id", correlationId),
    ...told("dlq-exception-stack-trace-summary", summarise(error), maxStackBytes),
    ...told("dlq-failing-consumer-info", infoText(consumer)),
  });
}

const keep: Redact = (_, value) => value;

function redacted(redact: Redact, field: DeadLetterField, value: string): string | null {
  try {
    const text: unknown = redact(field, value);
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}

/**
 * Control characters make SQS refuse the whole message, and help no reader. Tab, line feed and carriage return are
 * allowed. Source: SQS API Reference, `SendMessage`: the characters of XML 1.0.
 */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
}

function infoText({ service, version, environment, hostname, pid }: ConsumerInfo): string {
  const parts = { service, version, environment, hostname, pid };
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
