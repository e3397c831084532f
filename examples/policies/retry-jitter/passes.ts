import { RetryTopology } from "redeliver/pulumi";

new RetryTopology("shop", {
  owner: "team-billing",
  target: { broker: "rabbitmq", version: "4.3" },
  system: {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: {
        from: { orders: ["placed", "paid", "packed", "shipped", "cancelled", "returned"] },
        retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s", jitter: "20%" } },
        protocol: "amqp-1.0",
        handlerTimeout: "30s",
        errors: { permanent: ["ValidationError"] },
        deadLetter: { retain: "14d", alarmAbove: 0 },
      },
    },
  },
});
