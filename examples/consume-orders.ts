// A complete consumer on Amazon SQS: it charges once, traces its work, and stops in order.
import type { System } from "redeliver";
import type { IdempotencyStore, Running } from "redeliver/consume";
import { consume, once, permanent, retryAfter } from "redeliver/consume";
import { openTelemetry } from "redeliver/opentelemetry";

/** Your service's own work on an order. */
export type Charge = (order: { readonly id: string }) => Promise<"charged" | "unknown customer" | "too many requests">;

export async function runBilling(
  system: System,
  connection: { readonly endpoint?: string },
  store: IdempotencyStore,
  charge: Charge,
): Promise<Running> {
  const chargeOnce = once<{ id: string }>(
    { store, consumer: "billing", expires: "2m", keep: "14d", key: ({ body }) => body.id },
    async ({ body }) => {
      const answer = await charge(body);
      if (answer === "unknown customer") throw permanent("UNKNOWN_CUSTOMER");
      if (answer === "too many requests") throw retryAfter("2s");
    },
  );
  return consume(
    system,
    "billing",
    {
      target: { broker: "sqs", region: "us-east-1" },
      connection,
      telemetry: openTelemetry(),
      redact: (_field, value) => value.replaceAll(/\S+@\S+/g, "(e-mail)"),
      log: ({ kind, consumer }) => console.error(`${consumer}: ${kind}`),
    },
    chargeOnce,
  );
}
