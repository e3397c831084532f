import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", maxDeliveryCount: 3 }, { protect: true });
