import { cut } from "./cut.ts";
import type { DeadLetterField, ReasonCode } from "./fields.ts";
import { summarise } from "./summarise.ts";

/** Who failed, for whoever reads the dead letter. */
export interface ConsumerInfo {
  readonly service: string;
  readonly version?: string;
  readonly environment?: string;
  readonly hostname?: string;
  readonly pid?: number;
}

/**
 * Decides what a dead letter says of an error: the value, another one in its place, or null for nothing. It sees the whole value, before
 * anything is cut off. Where it throws, the field is left out: a dead letter is not lost for it.
 */
export type Redact = (field: DeadLetterField, value: string) => string | null;

export interface FailureContext {
  readonly workQueue: string;
  /** A code, or what the application said. Where redaction leaves nothing of it, `PERMANENT_FAILURE` and its like stay as the contract has them. */
  readonly reason: ReasonCode | (string & {});
  readonly failedAt: Date;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly consumer: ConsumerInfo;
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly redact?: Redact;
}

/** A stack trace can be of any length, and headers travel with every copy. */
const maxStackBytes = 2_048;
/** Beyond the 255 bytes that RabbitMQ allows a name, the longest of the others. */
const maxFieldBytes = 512;

/** What a consumer writes on a message that it sends to the dead queue. Sizes are capped, and marked where something was cut off. */
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
 * Control characters make SQS refuse the whole message, and mean nothing to a reader. Allowed are tab, line feed and carriage return.
 * Source: SQS API Reference, `SendMessage`: the characters of XML 1.0.
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
