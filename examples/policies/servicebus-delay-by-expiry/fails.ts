import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// A tier as in RabbitMQ: messages wait in it until they expire.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const orders = new Queue(
  "orders",
  { ...shop, queueName: "orders", deadLetteringOnMessageExpiration: true },
  { protect: true },
);
new Queue(
  "orders-after-30-seconds",
  {
    ...shop,
    queueName: "orders-after-30-seconds",
    defaultMessageTimeToLive: "PT30S",
    deadLetteringOnMessageExpiration: true,
    forwardDeadLetteredMessagesTo: orders.name,
  },
  { protect: true },
);
