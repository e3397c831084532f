import { defineSystem, exponential } from "redeliver";
import type { RabbitmqConnection, Running } from "redeliver/consume";
import { consume, permanent, retryAfter } from "redeliver/consume";
import { z } from "zod";

/** The same declaration that was deployed. */
export const shop = defineSystem({
  name: "shop",
  sources: { orders: { kind: "topic" } },
  consumers: {
    billing: {
      from: { orders: ["order.placed"] },
      retry: {
        attempts: 4,
        backoff: exponential({ first: "1s", factor: 2, max: "10s", jitter: "20%" }),
        retryAfter: { max: "10m" },
      },
      handlerTimeout: "30s",
      errors: { permanent: ["ValidationError"] },
    },
  },
});

const order = z.object({ id: z.string(), total: z.number() });

/** Charges each order, and runs until it is stopped. */
export async function runBilling(connection: RabbitmqConnection, api: string): Promise<Running> {
  const running = await consume(
    shop,
    "billing",
    { target: { broker: "rabbitmq", version: "4.3" }, connection, schema: order, concurrency: 20 },
    async (message, attempt) => {
      const { id, total } = message.body;
      const response = await fetch(`${api}/charges/${id}`, {
        method: "PUT",
        body: JSON.stringify({ total }),
        signal: attempt.signal,
      });
      if (response.status === 429) throw retryAfter(`${BigInt(response.headers.get("retry-after") ?? 60)}s`);
      if (response.status === 404) throw permanent("UNKNOWN_CUSTOMER");
      if (!response.ok) throw new Error(`the answer was ${response.status}`);
    },
  );
  process.once("SIGTERM", () => void running.stop());
  return running;
}
