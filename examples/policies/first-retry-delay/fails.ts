import { RetryTopology } from "redeliver/pulumi";

new RetryTopology("shop", {
  owner: "team-billing",
  target: { broker: "rabbitmq", version: "4.3" },
  system: {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: {
      billing: {
        from: { orders: ["order.placed"] },
        retry: { attempts: 5, backoff: { kind: "immediate" } },
        handlerTimeout: "30s",
        errors: { permanent: ["ValidationError"] },
        deadLetter: { retain: "14d", alarmAbove: 0 },
      },
    },
  },
});
