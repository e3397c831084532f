import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue(
  "orders",
  {
    ...shop,
    queueName: "orders",
    lockDuration: "PT1M",
    requiresDuplicateDetection: true,
    duplicateDetectionHistoryTimeWindow: "PT10M",
  },
  { protect: true },
);
