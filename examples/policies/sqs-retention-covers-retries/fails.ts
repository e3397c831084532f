import * as pulumi from "@pulumi/pulumi";
import * as sqs from "@pulumi/aws/sqs/index.js";

// Ten receives may take 12 hours each, but SQS deletes the message after four days.
const ordersDead = new sqs.Queue(
  "orders-dead",
  {
    name: "orders-dead",
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 1_209_600,
  },
  { protect: true },
);
new sqs.Queue(
  "orders",
  {
    name: "orders",
    visibilityTimeoutSeconds: 43_200,
    messageRetentionSeconds: 345_600,
    redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: ordersDead.arn, maxReceiveCount: 10 }),
  },
  { protect: true },
);
