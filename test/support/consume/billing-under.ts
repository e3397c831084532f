import { oneConsumer } from "../examples.ts";

/**
 * The shop with the consumer billing alone, with the protocol that a strategy of RabbitMQ needs. @param more fields of
 * the consumer that a test replaces
 */
export function billingUnder(strategy: string, more: Record<string, unknown> = {}): ReturnType<typeof oneConsumer> {
  return oneConsumer({
    from: { orders: "all" },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry: { attempts: 3, backoff: { kind: "constant", delay: "100ms" } },
    ...more,
  });
}
