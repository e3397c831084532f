import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const ordersDead = new Queue("orders-dead", { ...shop, queueName: "orders-dead" }, { protect: true });
new Queue(
  "orders",
  { ...shop, queueName: "orders", forwardDeadLetteredMessagesTo: ordersDead.name },
  { protect: true },
);
