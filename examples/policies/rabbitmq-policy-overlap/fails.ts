import * as rabbitmq from "@pulumi/rabbitmq";

// Only the second policy applies, so the queue has no length limit.
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
new rabbitmq.Policy("length", {
  vhost: "/",
  name: "length",
  policy: {
    pattern: "^orders$",
    priority: 0,
    applyTo: "queues",
    definition: { "max-length": "100000", overflow: "reject-publish" },
  },
});
new rabbitmq.Policy("limit", {
  vhost: "/",
  name: "limit",
  policy: { pattern: "^orders$", priority: 10, applyTo: "queues", definition: { "delivery-limit": "10" } },
});
