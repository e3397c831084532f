import * as rabbitmq from "@pulumi/rabbitmq";

// A message over the delivery limit waits and comes back. The second time, the broker drops it.
new rabbitmq.Exchange("orders-failed", { name: "orders.failed", settings: { type: "headers", durable: true } });
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({ "x-queue-type": "quorum", "x-dead-letter-exchange": "orders.failed" }),
    },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "orders-wait",
  {
    name: "orders.wait",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "quorum",
        "x-message-ttl": 5000,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "orders",
      }),
    },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "orders-dead",
  {
    name: "orders.dead",
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum", "x-delivery-limit": -1 }) },
  },
  { protect: true },
);
new rabbitmq.Binding("orders-failed-to-orders-wait", {
  vhost: "/",
  source: "orders.failed",
  destination: "orders.wait",
  destinationType: "queue",
  routingKey: "",
  argumentsJson: JSON.stringify({ "x-match": "all-with-x", "x-last-death-reason": "delivery_limit" }),
});
new rabbitmq.Binding("orders-failed-to-orders-dead", {
  vhost: "/",
  source: "orders.failed",
  destination: "orders.dead",
  destinationType: "queue",
  routingKey: "",
  argumentsJson: JSON.stringify({ "x-match": "all-with-x", "x-last-death-reason": "rejected" }),
});
