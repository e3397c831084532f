import { describe, expect, test } from "vitest";

import { pageOf } from "../support/contract-page.ts";
import { runSnippet } from "../support/python-snippet.ts";
import { region } from "../support/sqs/clients.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs } from "../support/sqs/register.ts";
import {
  beginSlowly,
  declarations,
  type Driven,
  expectContractKept,
  expectNothingLostByShutdown,
} from "../support/sqs/snippet-course.ts";

// The snippets for boto3 and for AWS Lambda, as the pages show them.
/**
 * Acts like Lambda for an event source mapping with ReportBatchItemFailures: receives records, invokes the function,
 * and deletes those that the answer leaves out. Source: Lambda Developer Guide, "Using Lambda with Amazon SQS".
 */
const mapping = `
import base64
import function

def worded(attribute):
    words = {"dataType": attribute["DataType"], "stringListValues": [], "binaryListValues": []}
    if "StringValue" in attribute:
        words["stringValue"] = attribute["StringValue"]
    else:
        words["binaryValue"] = base64.b64encode(attribute["BinaryValue"]).decode()
    return words

work = snippet.url_of(snippet.CONTRACT["workQueue"])
while True:
    received = snippet.sqs.receive_message(
        QueueUrl=work, MaxNumberOfMessages=BATCH, WaitTimeSeconds=1,
        MessageSystemAttributeNames=["All"], MessageAttributeNames=["All"]).get("Messages", [])
    if not received:
        continue
    records = [{
        "messageId": each["MessageId"],
        "receiptHandle": each["ReceiptHandle"],
        "body": each["Body"],
        "attributes": each["Attributes"],
        "messageAttributes": {name: worded(value) for name, value in each.get("MessageAttributes", {}).items()},
    } for each in received]
    answer = function.handler({"Records": records}, None)
    failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
    for record in records:
        if record["messageId"] not in failed:
            snippet.sqs.delete_message(QueueUrl=work, ReceiptHandle=record["receiptHandle"])
`;

const ways = [
  { way: "boto3", consumer: "billing", main: "snippet.main()" },
  { way: "Celery", consumer: "billing", main: "import tasks\ntasks.work.run = handle\nsnippet.main()" },
  { way: "Lambda", consumer: "billing", main: mapping.replace("BATCH", "10") },
  { way: "boto3", consumer: "ledger", main: "snippet.main()" },
  { way: "Lambda", consumer: "ledger", main: mapping.replace("BATCH", "1") },
] as const;

/** The page of a consumer. For Lambda it is the page of the same consumer on a target that names its function. */
function pageIn(system: DeployedSystem, consumer: string, way: string): string {
  const lambda = { [consumer]: { function: "billing", timeout: "10s" } } as const;
  const target = { broker: "sqs", region, ...(way === "Lambda" ? { lambda } : {}) } as const;
  const contract = compileSqs(system.declared, target).contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) throw new Error(`no contract for ${consumer}`);
  return pageOf(contract);
}

describe.each(sqsEmulators())("on $name $version", (emulator) => {
  test.concurrent.for(ways)(
    "the snippet for $way keeps the contract of $consumer",
    async ({ way, consumer, main }, { onTestFinished }) => {
      const system = await deploy(emulator, { [consumer]: declarations[consumer] });
      onTestFinished(async () => system.dispose());
      const snippet = runSnippet(pageIn(system, consumer, way), main, {
        AWS_ENDPOINT_URL: emulator.endpoint,
        AWS_DEFAULT_REGION: region,
        AWS_ACCESS_KEY_ID: "test",
        AWS_SECRET_ACCESS_KEY: "test",
        AWS_MAX_ATTEMPTS: "1",
      });
      onTestFinished(async () => snippet.stop());
      const bodyOf: Driven["bodyOf"] = (id, plan) => JSON.stringify({ id, plan });
      const driven = { system, consumer, bodyOf, runs: () => snippet.runs, log: snippet.log };
      await expectContractKept(driven);
      // A program of this test takes the place of Lambda.
      if (way === "Lambda") return;
      await beginSlowly(driven);
      expect(await snippet.terminate()).toBe(0);
      await expectNothingLostByShutdown(driven);
    },
  );
});
