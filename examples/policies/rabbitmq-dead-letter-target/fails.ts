import * as rabbitmq from "@pulumi/rabbitmq";

// Dead letters keep the routing key of their publication, and the binding has another key.
new rabbitmq.Exchange("orders-failed", { name: "orders.failed", settings: { type: "direct", durable: true } });
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": "orders.failed",
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
new rabbitmq.Binding("orders-failed-to-orders-dead", {
  vhost: "/",
  source: "orders.failed",
  destination: "orders.dead",
  destinationType: "queue",
  routingKey: "order",
});
