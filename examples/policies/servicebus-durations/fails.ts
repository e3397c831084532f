import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Before the T an M is a month: this lock lasts five months.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue("orders", { ...shop, queueName: "orders", lockDuration: "P5M" }, { protect: true });
