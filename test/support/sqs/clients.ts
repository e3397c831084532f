import { SNSClient } from "@aws-sdk/client-sns";
import { SQSClient } from "@aws-sdk/client-sqs";

export const region = "us-east-1";
export const accountId = "000000000000";

/** Everything the SDK would otherwise look for in the environment or in ~/.aws, so that no test can reach a real account. */
export const clientSettings = (endpoint: string) => ({
  endpoint,
  region,
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  // A second try could hide what the first one met, and would spend a receive.
  maxAttempts: 1,
});

/** A client that talks to this endpoint alone, whatever host a queue URL names. Whoever makes one destroys it. */
export function createSqsClient(endpoint: string): SQSClient {
  return new SQSClient(clientSettings(endpoint));
}

export function createSnsClient(endpoint: string): SNSClient {
  return new SNSClient(clientSettings(endpoint));
}
