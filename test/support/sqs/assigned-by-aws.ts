import { accountId } from "./clients.ts";

/**
 * The values that AWS adds to a resource: names that others refer to. Other types of resources get none. If the program
 * gives no name, Pulumi derives one from the logical name, with `.fifo` at its end.
 */
export function assignedByAws(type: string, inputs: Readonly<Record<string, unknown>>, logicalName: string) {
  const { fifoQueue, fifoTopic } = inputs;
  // A resource without a region is created in that of its provider.
  const region = String(inputs["region"] ?? "eu-west-1");
  const automatic = `${logicalName}-1a2b3c4${fifoQueue === true || fifoTopic === true ? ".fifo" : ""}`;
  const name = String(inputs["name"] ?? automatic);
  switch (type) {
    case "aws:sqs/queue:Queue":
      return { name, arn: queueArn(region, name), url: queueUrl(region, name) };
    case "aws:sns/topic:Topic":
      return { name, arn: topicArn(region, name) };
    case "aws:lambda/function:Function":
      return { name, arn: `arn:aws:lambda:${region}:${accountId}:function:${name}` };
    default:
      return {};
  }
}

export function queueArn(region: string, name: string): string {
  return `arn:aws:sqs:${region}:${accountId}:${name}`;
}

export function queueUrl(region: string, name: string): string {
  return `https://sqs.${region}.amazonaws.com/${accountId}/${name}`;
}

export function topicArn(region: string, name: string): string {
  return `arn:aws:sns:${region}:${accountId}:${name}`;
}
