import * as rabbitmq from "@pulumi/rabbitmq";

// A message that failed in billing comes back with a key that shipping takes as well.
new rabbitmq.Exchange("events", { name: "events", settings: { type: "direct", durable: true } });
new rabbitmq.Exchange("billing-retry", { name: "billing.retry", settings: { type: "direct", durable: true } });
new rabbitmq.Queue(
  "billing",
  {
    name: "billing",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({ "x-queue-type": "classic", "x-dead-letter-exchange": "billing.retry" }),
    },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "billing-wait",
  {
    name: "billing.wait",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "classic",
        "x-message-ttl": 5000,
        "x-dead-letter-exchange": "events",
        "x-dead-letter-routing-key": "billing:2",
      }),
    },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "billing-dead",
  {
    name: "billing.dead",
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "classic" }) },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "shipping",
  {
    name: "shipping",
    settings: {
      durable: true,
      argumentsJson: JSON.stringify({
        "x-queue-type": "classic",
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "shipping.dead",
      }),
    },
  },
  { protect: true },
);
new rabbitmq.Queue(
  "shipping-dead",
  {
    name: "shipping.dead",
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "classic" }) },
  },
  { protect: true },
);
new rabbitmq.Binding("events-to-billing", {
  vhost: "/",
  source: "events",
  destination: "billing",
  destinationType: "queue",
  routingKey: "placed",
});
new rabbitmq.Binding("events-to-billing-again", {
  vhost: "/",
  source: "events",
  destination: "billing",
  destinationType: "queue",
  routingKey: "billing:2",
});
new rabbitmq.Binding("billing-retry-to-billing-wait", {
  vhost: "/",
  source: "billing.retry",
  destination: "billing.wait",
  destinationType: "queue",
  routingKey: "placed",
});
new rabbitmq.Binding("billing-retry-to-billing-dead", {
  vhost: "/",
  source: "billing.retry",
  destination: "billing.dead",
  destinationType: "queue",
  routingKey: "billing:2",
});
new rabbitmq.Binding("events-to-shipping", {
  vhost: "/",
  source: "events",
  destination: "shipping",
  destinationType: "queue",
  routingKey: "placed",
});
new rabbitmq.Binding("events-to-shipping-again", {
  vhost: "/",
  source: "events",
  destination: "shipping",
  destinationType: "queue",
  routingKey: "billing:2",
});
