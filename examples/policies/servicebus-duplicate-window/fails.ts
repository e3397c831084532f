import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// Half a minute is over before the lock of a crashed consumer is.
const shop = { resourceGroupName: "shop", namespaceName: "shop" };
new Queue(
  "orders",
  {
    ...shop,
    queueName: "orders",
    lockDuration: "PT1M",
    requiresDuplicateDetection: true,
    duplicateDetectionHistoryTimeWindow: "PT30S",
  },
  { protect: true },
);
