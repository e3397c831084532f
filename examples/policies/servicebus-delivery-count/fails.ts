import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// A restart of the consumer is enough for a message to be dead.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", maxDeliveryCount: 1 }, { protect: true });
