import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Before the T an M is a month: this is a lock of five of them.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", lockDuration: "P5M" }, { protect: true });
