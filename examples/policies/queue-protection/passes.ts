import * as rabbitmq from "@pulumi/rabbitmq";

// With one more argument here, Pulumi refuses the update.
const dead = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dead" };
new rabbitmq.Queue(
  "orders",
  { name: "orders", settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...dead }) } },
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
