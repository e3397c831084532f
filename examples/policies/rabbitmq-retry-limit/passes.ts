import * as rabbitmq from "@pulumi/rabbitmq";

// The queue itself delays each message that is rejected with requeue, counts it, and gives it up after five times.
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "quorum",
        "x-delivery-limit": 5,
        "x-delayed-retry-type": "failed",
        "x-delayed-retry-min": 5000,
        "x-delayed-retry-max": 60000,
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
