import * as pulumi from "@pulumi/pulumi";
import * as sqs from "@pulumi/aws/sqs/index.js";

// With more than 10 sources the policy restricts nothing.
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
    messageRetentionSeconds: 345_600,
    redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: ordersDead.arn, maxReceiveCount: 5 }),
  },
  { protect: true },
);
const others = Array.from({ length: 10 }, (_, index) => `arn:aws:sqs:eu-west-1:123456789012:other-${index + 1}`);
new sqs.RedriveAllowPolicy("orders-dead", {
  queueUrl: ordersDead.url,
  redriveAllowPolicy: pulumi.jsonStringify({ redrivePermission: "byQueue", sourceQueueArns: [orders.arn, ...others] }),
});
