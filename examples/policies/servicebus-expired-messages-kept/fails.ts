import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Nothing is said of what expires, and then it is deleted: here dead letters that nobody looked at within a day.
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
