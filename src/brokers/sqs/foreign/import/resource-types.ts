import type { BridgedType } from "../../../../foreign/terraform-state.ts";
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

/** Source: `provider/resources.go` of pulumi-aws, and the schemas of the provider for Terraform. */
export const terraformTypes: Readonly<Record<string, BridgedType>> = Object.freeze({
  aws_sqs_queue: { type: queueType },
  aws_sqs_queue_redrive_policy: { type: "aws:sqs/redrivePolicy:RedrivePolicy" },
  aws_sqs_queue_redrive_allow_policy: { type: "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy" },
  aws_sqs_queue_policy: { type: "aws:sqs/queuePolicy:QueuePolicy" },
  aws_sns_topic: { type: topicType },
  aws_sns_topic_subscription: { type: subscriptionType, renamed: { topicArn: "topic" } },
  aws_lambda_function: {
    type: functionType,
    singleBlocks: ["dead_letter_config"],
    renamed: { functionName: "name" },
  },
  aws_lambda_event_source_mapping: {
    type: mappingType,
    singleBlocks: ["filter_criteria", "scaling_config"],
    renamed: { filter: "filters" },
  },
});

export const assigned: Readonly<Record<string, readonly string[]>> = Object.freeze({
  [queueType]: ["arn", "url", "name"],
  [topicType]: ["arn", "name"],
  [subscriptionType]: ["arn"],
  [functionType]: ["arn", "name"],
  [mappingType]: ["functionArn"],
});
