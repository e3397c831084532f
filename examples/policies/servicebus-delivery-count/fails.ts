import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// One restart of the consumer makes a message dead.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", maxDeliveryCount: 1 }, { protect: true });
