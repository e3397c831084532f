import * as rabbitmq from "@pulumi/rabbitmq";

// Pulumi sends every value in `arguments` as text, and the broker ignores a limit that is text.
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      arguments: {
        "x-queue-type": "quorum",
        "x-delivery-limit": "5",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "orders.dead",
      },
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
