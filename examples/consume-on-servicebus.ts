// A consumer on Azure Service Bus: it bills each order once, and stops in order.
import type { System } from "redeliver";
import type { ConsumeOptions, Running } from "redeliver/consume";
import { consume, permanent } from "redeliver/consume";

/** Your service's own work on an order. */
export type Charge = (order: { readonly id: string }, signal: AbortSignal) => Promise<"charged" | "unknown customer">;

export async function runBilling(
  system: System,
  connection: ConsumeOptions<"servicebus">["connection"],
  charge: Charge,
): Promise<Running> {
  return consume<"servicebus", { id: string }>(
    system,
    "billing",
    { target: { broker: "servicebus", sku: "standard" }, connection, concurrency: 20 },
    async ({ body }, { signal }) => {
      if ((await charge(body, signal)) === "unknown customer") throw permanent("UNKNOWN_CUSTOMER");
    },
  );
}
