import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Each forwards to the other. Pulumi orders what is named by an output, so a ring can only be written by name.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", forwardTo: "billing" }, { protect: true });
new Queue("billing", { ...shop, queueName: "billing", forwardTo: "orders" }, { protect: true });
