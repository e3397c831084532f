import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const billing = new Queue("billing", { ...shop, queueName: "billing" }, { protect: true });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: billing.name }, { protect: true });
