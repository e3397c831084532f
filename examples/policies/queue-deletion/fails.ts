import * as sqs from "@pulumi/aws/sqs/index.js";

// Another logical name is another resource. Pulumi deletes the old queue, although the new one has its name.
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
  { protect: true },
);
