import { Queue } from "@pulumi/azure-native/servicebus/queue.js";

// The window of half a minute ends before the lock of a crashed consumer.
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
