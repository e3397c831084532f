/** The place where a delivery holds its attempt number. Each broker knows some of these places. */
export type AttemptNumber =
  /** From the second attempt on, the routing key or the exchange is this prefix and the number. */
  | { readonly from: "routing-key" | "exchange"; readonly prefix: string }
  /** The broker counts the deliveries before this one. */
  | { readonly from: "header" | "delivery-count" | "receive-count" }
  /** A property of the message holds the number from the second attempt on. */
  | { readonly from: "application-property"; readonly attempt: string };

/** The parts of a delivery that may hold the number. A publisher or a broker may have written any value. */
export interface DeliveryMarks {
  readonly routingKey?: string;
  readonly exchange?: string;
  readonly earlierDeliveries?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** @returns null if the place of the number holds no number */
export function attemptOf(where: AttemptNumber | null, marks: DeliveryMarks): number | null {
  const { routingKey = "", exchange = "", earlierDeliveries, properties = {} } = marks;
  switch (where?.from) {
    case undefined:
      return 1;
    case "routing-key":
      return numberAfter(where.prefix, routingKey);
    case "exchange":
      return numberAfter(where.prefix, exchange);
    case "header":
    case "delivery-count":
    case "receive-count":
      return Number.isSafeInteger(earlierDeliveries) && (earlierDeliveries as number) >= 0
        ? (earlierDeliveries as number) + 1
        : null;
    case "application-property": {
      const value = properties[where.attempt];
      return value === undefined ? 1 : wholeNumber(value);
    }
    default:
      return where satisfies never;
  }
}

function numberAfter(prefix: string, text: string): number | null {
  return text.startsWith(prefix) ? wholeNumber(text.slice(prefix.length)) : 1;
}

function wholeNumber(value: unknown): number | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  return /^[1-9][0-9]{0,8}$/.test(String(value)) ? Number(value) : null;
}
