import { describe, expect, test } from "vitest";

import { renderContractPage } from "../../src/report/contract-page/contract-page.ts";
import { runSnippet, type RunningSnippet } from "../support/python-snippet.ts";
import { region } from "../support/sqs/clients.ts";
import { attributes, deploy, type DeployedSystem, textsOf } from "../support/sqs/deployed-system.ts";
import { sleep } from "../support/sqs/lab.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";
import { compileSqs } from "../support/sqs/register.ts";

// The snippets for boto3 and for AWS Lambda, as they stand on the pages.
const retry = { attempts: 3, backoff: { kind: "steps", delays: ["1s", "2s"] }, retryAfter: { max: "5s" } };
const errors = { permanent: ["ValidationError"] };
const billing = { from: { orders: "all" }, retry, handlerTimeout: "3s", errors };
/** In order, with an attempt at once: what a function of Lambda can keep, too. */
const ledger = {
  from: { orders: "all" },
  retry: { attempts: 3, backoff: { kind: "immediate" } },
  handlerTimeout: "3s",
  errors,
  order: "per-key",
};

const plans: Readonly<Record<string, readonly (string | number)[]>> = {
  "success at once": [],
  "success on attempt 2": ["transient"],
  "always transient": Array<string>(5).fill("transient"),
  permanent: ["permanent"],
  "asked for 3 s": [3.0],
};

/**
 * Does what Lambda does for an event source mapping with ReportBatchItemFailures: receives, invokes the function with the records, and
 * deletes those that the answer leaves out. Source: Lambda Developer Guide, "Using Lambda with Amazon SQS".
 */
const mapping = `
import base64

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
    answer = snippet.handler({"Records": records}, None)
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

/** Each message in a group of its own, so that none waits for another; the name of a group has no spaces. */
function groupOf(id: string): string {
  return `group-of-${id.replaceAll(" ", "-")}`;
}

/** The page of a consumer; for Lambda of the same consumer on a target that names its function. */
function pageOf(system: DeployedSystem, consumer: string, way: string): string {
  const lambda = { [consumer]: { function: "billing", timeout: "3s" } } as const;
  const target = { broker: "sqs", region, ...(way === "Lambda" ? { lambda } : {}) } as const;
  const contract = compileSqs(system.declared, target).contracts.find((each) => each.consumer === consumer);
  if (contract === undefined) throw new Error(`no contract for ${consumer}`);
  return renderContractPage(contract);
}

async function until(snippet: RunningSnippet, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${snippet.log()}\n${JSON.stringify(snippet.runs)}`);
    await sleep(100);
  }
}

async function expectShutdownCostsNothing(
  { lab, work }: DeployedSystem,
  consumer: string,
  snippet: RunningSnippet,
): Promise<void> {
  const send = async (id: string, plan: readonly string[]): Promise<void> => {
    const fifo = consumer === "ledger" ? { MessageGroupId: groupOf(id), MessageDeduplicationId: groupOf(id) } : {};
    await lab.send(work(consumer), JSON.stringify({ id, plan }), fifo);
  };
  const ran = (id: string): number => snippet.runs.filter((run) => run.id === id).length;
  await send("slow", ["slow"]);
  await until(snippet, async () => ran("slow") === 1);
  await send("waits behind it", []);
  expect(await snippet.terminate()).toBe(0);
  const left = await lab.receive(work(consumer), { max: 10, waitSeconds: 1 });
  expect(ran("slow")).toBe(1);
  const wanted = ran("waits behind it") === 1 ? [] : [["waits behind it", "1"]];
  expect(
    left.map(({ Body = "", Attributes }) => [
      (JSON.parse(Body) as { id: string }).id,
      Attributes?.["ApproximateReceiveCount"],
    ]),
  ).toEqual(wanted);
}

describe.each(sqsEmulators())("on $name $version", (emulator) => {
  test.concurrent.for(ways)(
    "the snippet for $way keeps the contract of $consumer",
    { timeout: 120_000 },
    async ({ way, consumer, main }, { onTestFinished }) => {
      const system = await deploy(emulator, { [consumer]: consumer === "billing" ? billing : ledger });
      onTestFinished(async () => system.dispose());
      const { lab } = system;
      const fifo = consumer === "ledger";
      const wanted = Object.entries(plans).filter(([id]) => !(fifo && id.startsWith("asked")));
      for (const [id, plan] of wanted) {
        await lab.send(system.work(consumer), JSON.stringify({ id, plan }), {
          MessageAttributes: {
            ...attributes({ "routing-key": "order.placed", tenant: "a" }),
            blob: { DataType: "Binary", BinaryValue: new Uint8Array([0, 255, 7]) },
          },
          ...(fifo ? { MessageGroupId: groupOf(id), MessageDeduplicationId: groupOf(id) } : {}),
        });
      }
      const snippet = runSnippet(pageOf(system, consumer, way), main, {
        AWS_ENDPOINT_URL: emulator.endpoint,
        AWS_DEFAULT_REGION: region,
        AWS_ACCESS_KEY_ID: "test",
        AWS_SECRET_ACCESS_KEY: "test",
        AWS_MAX_ATTEMPTS: "1",
      });
      onTestFinished(async () => snippet.stop());
      await until(snippet, async () => {
        const [left, dead] = [await lab.count(system.work(consumer)), await lab.count(system.dead(consumer))];
        return left === 0 && dead === 2;
      });

      const attemptsOf = (id: string): number[] =>
        snippet.runs.filter((run) => run.id === id).map(({ attempt }) => attempt);
      expect(Object.fromEntries(wanted.map(([id]) => [id, attemptsOf(id)]))).toEqual({
        "success at once": [1],
        "success on attempt 2": [1, 2],
        "always transient": [1, 2, 3],
        permanent: [1],
        ...(fifo ? {} : { "asked for 3 s": [1, 2] }),
      });
      const begun = (id: string): number[] => snippet.runs.filter((run) => run.id === id).map(({ beganAt }) => beganAt);
      const waits = fifo ? [0, 0] : [1, 2];
      const always = begun("always transient");
      // The emulators count in milliseconds what AWS counts in seconds, and round the beginning down.
      for (const [index, seconds] of waits.entries())
        expect((always[index + 1] ?? 0) - (always[index] ?? 0)).toBeGreaterThanOrEqual(seconds - 0.05);
      if (!fifo) {
        const [first = 0, second = 0] = begun("asked for 3 s");
        expect(second - first).toBeGreaterThanOrEqual(2.95);
      }

      const letters = [...(await lab.receive(system.dead(consumer), { max: 10, waitSeconds: 1 }))];
      const letter = letters.find(({ Body = "" }) => (JSON.parse(Body) as { id: string }).id === "permanent");
      expect(JSON.parse(letter?.Body ?? "null")).toEqual({ id: "permanent", plan: ["permanent"] });
      expect(letter?.MessageAttributes?.["blob"]?.BinaryValue).toEqual(new Uint8Array([0, 255, 7]));
      expect(textsOf(letter?.MessageAttributes)).toMatchObject({
        "routing-key": "order.placed",
        tenant: "a",
        "dlq-original-queue": system.contract(consumer).workQueue,
        "dlq-failure-reason": "PERMANENT_FAILURE",
      });
      if (fifo) expect(letter?.Attributes?.["MessageGroupId"]).toBe(groupOf("permanent"));
      // In the place of Lambda stands a program of this test.
      if (way !== "Lambda") await expectShutdownCostsNothing(system, consumer, snippet);
    },
  );
});
