import * as pulumi from "@pulumi/pulumi";
import * as sns from "@pulumi/aws/sns/index.js";
import * as sqs from "@pulumi/aws/sqs/index.js";

// Without a policy, the queue does not let the topic send to it.
const topic = new sns.Topic("orders", { name: "orders" });
const letsTopicIn = pulumi.jsonStringify({
  Version: "2012-10-17",
  Statement: [
    {
      Effect: "Allow",
      Principal: { Service: "sns.amazonaws.com" },
      Action: "sqs:SendMessage",
      Resource: "*",
      Condition: { ArnEquals: { "aws:SourceArn": topic.arn } },
    },
  ],
});
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
const undelivered = new sqs.Queue(
  "orders-undelivered",
  {
    name: "orders-undelivered",
    visibilityTimeoutSeconds: 30,
    messageRetentionSeconds: 1_209_600,
    policy: letsTopicIn,
  },
  { protect: true },
);
new sns.TopicSubscription("orders", {
  topic: topic.arn,
  protocol: "sqs",
  endpoint: orders.arn,
  redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: undelivered.arn }),
});
