import { type Field, policyFields, pulumiNamesOf, queueFields } from "../../compile/fields.ts";

export const componentType = "redeliver:sqs:RetryTopology";
export const queueType = "aws:sqs/queue:Queue";
export const topicType = "aws:sns/topic:Topic";
export const functionType = "aws:lambda/function:Function";
export const mappingType = "aws:lambda/eventSourceMapping:EventSourceMapping";
export const subscriptionType = "aws:sns/topicSubscription:TopicSubscription";

const attributeFields: Readonly<Record<string, Field<never>>> = { ...queueFields, ...policyFields };

/** The provider's names of the attributes of a queue, by AWS's names. */
export const queueProperties = pulumiNamesOf(attributeFields);

/** The provider's names of the numbers that findings depend on. */
export const judgedNumbers = [...queueProperties].flatMap(([attribute, property]) =>
  attributeFields[attribute]?.isJudged === true ? [property] : [],
);

/**
 * Resources that hold one attribute of a queue and name the queue by its URL. Source: `__pulumiType` in @pulumi/aws 7.
 */
export const attributeTypes: Readonly<Record<string, string>> = Object.freeze({
  "aws:sqs/redrivePolicy:RedrivePolicy": "RedrivePolicy",
  "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy": "RedriveAllowPolicy",
  "aws:sqs/queuePolicy:QueuePolicy": "Policy",
});

export const assigned: Readonly<Record<string, readonly string[]>> = Object.freeze({
  [queueType]: ["arn", "url", "name"],
  [topicType]: ["arn", "name"],
  [subscriptionType]: ["arn"],
  [functionType]: ["arn", "name"],
  [mappingType]: ["functionArn"],
});
