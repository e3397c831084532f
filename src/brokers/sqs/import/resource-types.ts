export const queueType = "aws:sqs/queue:Queue";
export const topicType = "aws:sns/topic:Topic";
export const functionType = "aws:lambda/function:Function";
export const mappingType = "aws:lambda/eventSourceMapping:EventSourceMapping";
export const subscriptionType = "aws:sns/topicSubscription:TopicSubscription";

/** Resources that hold one attribute of a queue, which they name by its URL. Source: `__pulumiType` in @pulumi/aws 7. */
export const attributeTypes: Readonly<Record<string, { readonly property: string; readonly attribute: string }>> =
  Object.freeze({
    "aws:sqs/redrivePolicy:RedrivePolicy": { property: "redrivePolicy", attribute: "RedrivePolicy" },
    "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": {
      property: "redriveAllowPolicy",
      attribute: "RedriveAllowPolicy",
    },
    "aws:sqs/queuePolicy:QueuePolicy": { property: "policy", attribute: "Policy" },
  });

/** What AWS assigns, as far as it is read. */
export const assigned: Readonly<Record<string, readonly string[]>> = Object.freeze({
  [queueType]: ["arn", "url", "name"],
  [topicType]: ["arn", "name"],
  [subscriptionType]: ["arn"],
  [functionType]: ["arn", "name"],
  [mappingType]: ["functionArn"],
});
