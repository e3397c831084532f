import * as lambda from "@pulumi/aws/lambda/index.js";
import * as pulumi from "@pulumi/pulumi";
import * as sqs from "@pulumi/aws/sqs/index.js";

// The function may run for 60 seconds, but SQS gives its message to others after 30.
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
const billing = new lambda.Function("billing", {
  name: "billing",
  role: "arn:aws:iam::123456789012:role/billing",
  runtime: "nodejs24.x",
  handler: "index.handler",
  code: new pulumi.asset.AssetArchive({
    "index.mjs": new pulumi.asset.StringAsset("export const handler = () => {};"),
  }),
  timeout: 60,
});
new lambda.EventSourceMapping("orders-to-billing", {
  eventSourceArn: orders.arn,
  functionName: billing.arn,
  batchSize: 10,
  functionResponseTypes: ["ReportBatchItemFailures"],
});
