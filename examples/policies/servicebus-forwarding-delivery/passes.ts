import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const archive = new Queue("archive", { ...shop, queueName: "archive" });
new Queue("billing", { ...shop, queueName: "billing", forwardTo: archive.name });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: archive.name });
