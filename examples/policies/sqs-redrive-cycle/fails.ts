import * as pulumi from "@pulumi/pulumi";
import * as sqs from "@pulumi/aws/sqs/index.js";

// Each is the dead-letter queue of the other.
const ordersDead = new sqs.Queue(
  "orders-dead",
  {
    name: "orders-dead",
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 1_209_600,
  },
  { protect: true },
);
const orders = new sqs.Queue(
  "orders",
  {
    name: "orders",
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 1_209_600,
    redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: ordersDead.arn, maxReceiveCount: 5 }),
  },
  { protect: true },
);
new sqs.RedrivePolicy("back", {
  queueUrl: ordersDead.url,
  redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: orders.arn, maxReceiveCount: 5 }),
});
