/**
 * Headers as the client library gives them. A value with a type that JavaScript lacks has its name: `{ "!": "timestamp",
 * value }` or `{ "!": "decimal", value }`.
 */
export type Headers = Readonly<Record<string, unknown>>;

/** A letter in a dead queue, with everything that the broker delivers of it. */
export interface Letter {
  /** Its place in the queue, from 1, when the queue was read. */
  readonly position: number;
  /** The exchange and the routing key of its last move. */
  readonly exchange: string;
  /** The routing key of its last move. */
  readonly routingKey: string;
  /** True if the broker has delivered it from the dead queue before. */
  readonly redelivered: boolean;
  /** The message's headers, with those that the failure left. */
  readonly headers: Headers;
  /** The message's other properties. Missing ones are left out. */
  readonly properties: Readonly<Record<string, string | number>>;
  /** The bytes as the producer sent them. */
  readonly body: Uint8Array;
}

/** A value that names its own type. */
export interface TypedValue {
  readonly "!": string;
  readonly value: unknown;
}

export function isTable(value: unknown): value is Headers {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

export function isTyped(value: Headers): boolean {
  return Object.hasOwn(value, "!");
}

/**
 * The reason why a letter cannot be written whole: the client library has already changed a value of it. Null if the
 * letter is whole. A whole number that the publisher sent as a double cannot be told from an integer.
 */
export function lossIn({ headers, properties }: Letter): string | null {
  return lossInTable(headers) ?? lossInValue(properties);
}

/** Headers are a table themselves, so a header may have the name ! that marks a type in a value. */
function lossInTable(table: Headers): string | null {
  return firstLoss([...Object.keys(table), ...Object.values(table)]);
}

function lossInValue(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      return value.includes("\uFFFD") ? "a text that is not UTF-8" : null;
    case "number":
      return isExact(value) ? null : "an integer beyond 53 bits";
    case "object":
      break;
    default:
      return null;
  }
  if (value === null || value instanceof Uint8Array) return null;
  if (Array.isArray(value)) return firstLoss(value);
  if (!isTable(value)) return null;
  if (!isTyped(value)) return lossInTable(value);
  const { "!": type, value: inner } = value;
  const isKnown = (type === "timestamp" || type === "decimal") && Object.keys(value).length === 2;
  return isKnown ? lossInValue(inner) : "a table with the key !";
}

function firstLoss(values: readonly unknown[]): string | null {
  for (const value of values) {
    const loss = lossInValue(value);
    if (loss !== null) return loss;
  }
  return null;
}

function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || !Number.isFinite(value) || !Number.isInteger(value);
}
