import { SNSClient } from "@aws-sdk/client-sns";
import { SQSClient } from "@aws-sdk/client-sqs";

export const region = "us-east-1";
export const accountId = "000000000000";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Every setting that the SDK would otherwise look for in the environment or in ~/.aws, so that no test can reach a real
 * account.
 */
export const clientSettings = (
  endpoint: string,
  credentials: Credentials = { accessKeyId: "test", secretAccessKey: "test" },
) => ({
  endpoint,
  region,
  credentials,
  // A second try could hide the result of the first one, and would spend a receive.
  maxAttempts: 1,
});

/** A client that talks to this endpoint alone, even if a queue URL names another host. The caller destroys it. */
export function createSqsClient(endpoint: string, credentials?: Credentials): SQSClient {
  return new SQSClient(clientSettings(endpoint, credentials));
}

export function createSnsClient(endpoint: string, credentials?: Credentials): SNSClient {
  return new SNSClient(clientSettings(endpoint, credentials));
}
