import { type TerraformAddress, type TerraformResource, referTo, terraformOf } from "../../../deploy/terraform.ts";
import { sqsLimits } from "../compile/capabilities.ts";
import { isArn, regionOf } from "../compile/arn.ts";
import * as fields from "../compile/fields.ts";
import { tagsOf } from "../compile/tags.ts";
import type { SqsTopology } from "../compile/topology.ts";

const provider = {
  name: "aws",
  source: "hashicorp/aws",
  // The first version with a region on each resource is 6.0, and with messages of 1 MiB 6.8. Source: CHANGELOG.
  version: ">= 6.8.0",
};

const queueOf = (name: string): TerraformAddress => ({ type: "aws_sqs_queue", name });
const topicOf = (name: string): TerraformAddress => ({ type: "aws_sns_topic", name });

/**
 * Writes a topology for Terraform, with the resources, the order and the protection that `deploySqs` gives them. The
 * policies of a queue are resources of their own, because queues and topics name each other.
 *
 * Terraform deletes a resource that leaves the configuration, protected or not.
 */
export function exportTerraform(topology: SqsTopology): object {
  const { queues, topics, subscriptions, mappings, alarms } = topology;
  const region = topology.target.split("@")[1] ?? "";
  const queue = (name: string): string => referTo(queueOf(name), "arn");
  const writing: fields.Writing = {
    queue,
    source: queue,
    topic: (name) => (isArn(name) ? name : referTo(topicOf(name), "arn")),
    tags: (values) => tagsOf(topology, values),
    dimensions: (name) => ({ QueueName: referTo(queueOf(name), "name") }),
  };
  const args = <Entity>(table: fields.Fields<Entity>, entity: Entity) => ({
    region,
    ...argsOf(table, entity, writing),
  });
  const policies = (consumer: string): readonly TerraformAddress[] =>
    queues
      .filter((each) => each.consumer === consumer || each.consumer === null)
      .flatMap(({ name }) => [
        { type: "aws_sqs_queue_policy", name },
        { type: "aws_sqs_queue_redrive_allow_policy", name },
      ]);
  const { Policy, ...Allow } = fields.policyFields;
  return terraformOf(provider, [
    ...queues.flatMap((each): TerraformResource[] => {
      const { name } = each;
      const queue_url = referTo(queueOf(name), "url");
      const own = { name, ...args(fields.queueFields, each), max_message_size: sqsLimits.sentBytes };
      return [
        { ...queueOf(name), args: own, isProtected: true },
        { type: "aws_sqs_queue_policy", name, args: { queue_url, ...args({ Policy }, each) } },
        { type: "aws_sqs_queue_redrive_allow_policy", name, args: { queue_url, ...args(Allow, each) } },
      ];
    }),
    ...topics
      .filter(({ owner }) => owner !== "other")
      .map((each): TerraformResource => {
        return {
          ...topicOf(each.name),
          args: { name: each.name, ...args(fields.topicFields, each) },
          isProtected: true,
        };
      }),
    ...subscriptions.map((each): TerraformResource => {
      const name = `${each.topic}/${each.queue}`;
      const own = { ...args(fields.subscriptionFields, each), region: regionOf(each.topic) ?? region };
      return { type: "aws_sns_topic_subscription", name, args: own, dependsOn: policies(each.consumer) };
    }),
    ...mappings.map((each): TerraformResource => {
      const most = each.maximumConcurrency;
      const scaling = most === null ? {} : { scaling_config: { maximum_concurrency: most } };
      const own = { ...args(fields.mappingFields, each), ...scaling };
      const dependsOn = policies(each.consumer);
      return { type: "aws_lambda_event_source_mapping", name: each.queue, args: own, dependsOn };
    }),
    ...alarms.map((each): TerraformResource => {
      const own = { alarm_name: each.name, ...args(fields.alarmFields, each) };
      return { type: "aws_cloudwatch_metric_alarm", name: each.name, args: own };
    }),
  ]);
}

/** The provider has the names of @pulumi/aws with underscores, but for the topic of a subscription. */
function argsOf<Entity>(table: fields.Fields<Entity>, entity: Entity, writing: fields.Writing): object {
  const names = fields.pulumiNamesOf(table);
  return Object.fromEntries(
    Object.entries(fields.propertiesOf(table, entity, writing)).map(([aws, value]) => {
      const name = aws === "TopicArn" ? "topic_arn" : (names.get(aws) ?? aws);
      const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [snake, table[aws]?.isDocument === true ? JSON.stringify(value) : value];
    }),
  );
}
