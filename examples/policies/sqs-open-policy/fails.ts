import * as pulumi from "@pulumi/pulumi";
import * as sqs from "@pulumi/aws/sqs/index.js";

// Any AWS account may send to the queue.
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
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 345_600,
    redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: ordersDead.arn, maxReceiveCount: 5 }),
    policy: JSON.stringify({
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Principal: "*", Action: "sqs:SendMessage", Resource: "*" }],
    }),
  },
  { protect: true },
);
