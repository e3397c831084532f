import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const billing = new Queue("billing", { ...shop, queueName: "billing" });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: billing.name });
