import * as sqs from "@pulumi/aws/sqs/index.js";

new sqs.Queue(
  "orders",
  { name: "orders", visibilityTimeoutSeconds: 30, messageRetentionSeconds: 345_600 },
  { protect: true },
);
