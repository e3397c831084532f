import { isArn } from "./arn.ts";
import { partitionOf } from "./regions.ts";

/** A statement of an IAM policy that allows actions. */
export interface Statement {
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource: string;
}

interface Place {
  /** The name of the system. The names of its queues, topics and alarms begin with it. */
  readonly system: string;
  readonly region: string;
  readonly account: string;
}

/**
 * The rights that Pulumi's AWS provider needs. Queues and topics stay when they leave the program, so none is deleted.
 * Subscriptions, alarms and event source mappings are deleted. To create a queue with tags takes `sqs:TagQueue` too.
 * Lambda functions have names of their own. Source: terraform-provider-aws,
 * `internal/service/{sqs,sns,cloudwatch,lambda}`.
 */
export function toDeploy({ system, region, account }: Place): Readonly<Record<string, Statement>> {
  const allow = (service: string, names: string, resource: string): Statement => ({
    Effect: "Allow",
    Action: names.split(" ").map((name) => `${service}:${name}`),
    Resource: resource,
  });
  const arn = (service: string, name: string): string => `${beginningOf(service, { region, account })}:${name}`;
  return {
    queues: allow(
      "sqs",
      "CreateQueue GetQueueAttributes SetQueueAttributes TagQueue UntagQueue ListQueueTags",
      arn("sqs", `${system}-*`),
    ),
    topics: allow(
      "sns",
      "CreateTopic GetTopicAttributes SetTopicAttributes ListTagsForResource TagResource UntagResource " +
        "Subscribe GetSubscriptionAttributes SetSubscriptionAttributes Unsubscribe",
      arn("sns", `${system}-*`),
    ),
    alarms: allow(
      "cloudwatch",
      "PutMetricAlarm DescribeAlarms DeleteAlarms ListTagsForResource TagResource UntagResource",
      arn("cloudwatch", `alarm:${system}-*`),
    ),
    functions: allow(
      "lambda",
      "CreateEventSourceMapping GetEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping " +
        "ListTags TagResource UntagResource",
      "*",
    ),
  };
}

/**
 * The rights that an audit of an account needs. Without the first it reads nothing. Without another it leaves a part
 * out, and says so.
 */
export const toAudit: Readonly<Record<"queues" | "subscriptions" | "mappings", readonly string[]>> = Object.freeze({
  queues: ["sqs:ListQueues", "sqs:GetQueueAttributes"],
  subscriptions: ["sns:ListSubscriptions", "sns:GetSubscriptionAttributes"],
  mappings: ["lambda:ListEventSourceMappings", "lambda:GetFunctionConfiguration"],
});

/**
 * The rights to look at dead letters and to send them again, with a move task of SQS or one by one. Source: API
 * Reference, StartMessageMoveTask, and the SQS Developer Guide on dead-letter queue redrive.
 *
 * @param queues the names of the dead queue, of the queue for parked letters if there is one, and of the queue that
 *   their messages go back to
 */
export function toOperate(
  { region, account }: Omit<Place, "system">,
  queues: { readonly dead: string; readonly parked?: string; readonly work: string },
): readonly Statement[] {
  const arn = (name: string): string => `${beginningOf("sqs", { region, account })}:${name}`;
  const ofDead = ["GetQueueUrl", "GetQueueAttributes", "ReceiveMessage", "ChangeMessageVisibility", "DeleteMessage"];
  const tasks = ["StartMessageMoveTask", "ListMessageMoveTasks", "CancelMessageMoveTask"];
  const { dead, parked } = queues;
  // An import sends to the dead queue.
  const own = [...ofDead, "SendMessage"].map((name) => `sqs:${name}`);
  return [
    { Effect: "Allow", Action: [...own, ...tasks.map((name) => `sqs:${name}`)], Resource: arn(dead) },
    ...(parked === undefined ? [] : [{ Effect: "Allow" as const, Action: own, Resource: arn(parked) }]),
    { Effect: "Allow", Action: ["sqs:GetQueueUrl", "sqs:SendMessage"], Resource: arn(queues.work) },
  ];
}

/**
 * The rights of a producer that publishes to the topic of a source, or sends straight to a work queue. Source: API
 * References of SNS, Publish, and of SQS, SendMessage. Clients that know only the queue's name ask for its URL first.
 */
export function toPublish(
  { region, account }: Omit<Place, "system">,
  to: { readonly topic: string } | { readonly queue: string },
): Statement {
  const [service, name, actions] =
    "topic" in to
      ? (["sns", to.topic, ["sns:Publish"]] as const)
      : (["sqs", to.queue, ["sqs:GetQueueUrl", "sqs:SendMessage"]] as const);
  const Resource = isArn(name) ? name : `${beginningOf(service, { region, account })}:${name}`;
  return { Effect: "Allow", Action: actions, Resource };
}

function beginningOf(service: string, { region, account }: Omit<Place, "system">): string {
  return `arn:${partitionOf(region) ?? "aws"}:${service}:${region}:${account}`;
}
