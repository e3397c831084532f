import * as sqs from "@pulumi/aws/sqs/index.js";

// The alias makes it the same resource.
const dead = new sqs.Queue(
  "orders-dead",
  { name: "orders-dead", messageRetentionSeconds: 1_209_600 },
  { protect: true },
);
new sqs.Queue(
  "incoming-orders",
  {
    name: "orders",
    messageRetentionSeconds: 345_600,
    redrivePolicy: dead.arn.apply((arn) => JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: 5 })),
  },
  { protect: true, aliases: [{ name: "orders" }] },
);
