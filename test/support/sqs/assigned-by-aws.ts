import { accountId } from "./clients.ts";

/** What AWS adds to what a program asks for: names that others refer to. Nothing for the resources of others. */
export function assignedByAws(type: string, inputs: Readonly<Record<string, unknown>>): Record<string, string> {
  // A resource that names no region is made in that of its provider.
  const { name, region = "eu-west-1" } = inputs as { readonly name: string; readonly region?: string };
  switch (type) {
    case "aws:sqs/queue:Queue":
      return { arn: queueArn(region, name), url: queueUrl(region, name) };
    case "aws:sns/topic:Topic":
      return { arn: topicArn(region, name) };
    case "aws:lambda/function:Function":
      return { arn: `arn:aws:lambda:${region}:${accountId}:function:${name}` };
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
