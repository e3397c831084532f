import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// By default the queue deletes expired messages. Here that loses dead letters that stay unread for a day.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const ordersDead = new Queue(
  "orders-dead",
  { ...shop, queueName: "orders-dead", defaultMessageTimeToLive: "P1D" },
  { protect: true },
);
new Queue(
  "orders",
  { ...shop, queueName: "orders", forwardDeadLetteredMessagesTo: ordersDead.name },
  { protect: true },
);
