import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Each forwards to the other. Pulumi orders resources by their outputs, so a ring is possible only with names as text.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", forwardTo: "billing" }, { protect: true });
new Queue("billing", { ...shop, queueName: "billing", forwardTo: "orders" }, { protect: true });
