import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
const archive = new Queue("archive", { ...shop, queueName: "archive" }, { protect: true });
new Queue("billing", { ...shop, queueName: "billing", forwardTo: archive.name }, { protect: true });
new Queue("orders", { ...shop, queueName: "orders", forwardTo: archive.name }, { protect: true });
