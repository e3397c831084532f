import { randomUUID } from "node:crypto";

import { CreateEventSourceMappingCommand, CreateFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";

import { accountId, clientSettings, region } from "./clients.ts";
import type { SqsEmulator } from "./emulators.ts";
import type { Queue } from "./lab.ts";

/** Creates a function that receives the messages of a queue. No code runs. */
export async function createFunction(
  { endpoint }: Pick<SqsEmulator, "endpoint">,
  queue: Queue,
  timeoutSeconds: number,
): Promise<void> {
  const name = `audit-${randomUUID().slice(0, 8)}`;
  const trust = { Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" };
  const role = await fetch(endpoint, {
    method: "POST",
    // moto reads the service from the scope of a signature, which it does not check.
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/iam/aws4_request` },
    body: new URLSearchParams({
      Action: "CreateRole",
      Version: "2010-05-08",
      RoleName: name,
      AssumeRolePolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [trust] }),
    }),
  });
  if (!role.ok) throw new Error(`the role is refused: ${await role.text()}`);
  const lambda = new LambdaClient(clientSettings(endpoint));
  try {
    await lambda.send(
      new CreateFunctionCommand({
        FunctionName: name,
        Role: `arn:aws:iam::${accountId}:role/${name}`,
        Runtime: "nodejs22.x",
        Handler: "index.handler",
        Timeout: timeoutSeconds,
        // An empty archive.
        Code: { ZipFile: Buffer.concat([Buffer.from("PK\u0005\u0006"), Buffer.alloc(18)]) },
      }),
    );
    await lambda.send(
      new CreateEventSourceMappingCommand({ FunctionName: name, EventSourceArn: queue.arn, BatchSize: 10 }),
    );
  } finally {
    lambda.destroy();
  }
}
