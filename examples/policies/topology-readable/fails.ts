import * as rabbitmq from "@pulumi/rabbitmq";

// The pack cannot know to which queue a plugin's exchange routes.
new rabbitmq.Exchange("orders", { name: "orders", settings: { type: "x-consistent-hash", durable: true } });
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "orders.dead",
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
new rabbitmq.Binding("orders-to-orders", {
  vhost: "/",
  source: "orders",
  destination: "orders",
  destinationType: "queue",
  routingKey: "1",
});
