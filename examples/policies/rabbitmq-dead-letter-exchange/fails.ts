import * as rabbitmq from "@pulumi/rabbitmq";

new rabbitmq.Queue(
  "orders",
  {
    name: "orders",
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum" }) },
  },
  { protect: true },
);
