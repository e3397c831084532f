import * as rabbitmq from "@pulumi/rabbitmq";

// A rejected message waits for five seconds and comes back, as long as consumers reject it.
new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "classic",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "orders.wait",
      }),
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
        "x-queue-type": "classic",
        "x-message-ttl": 5000,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "orders",
      }),
    },
  },
  { protect: true },
);
