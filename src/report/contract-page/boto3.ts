import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { pythonContract, pythonOutcomes } from "./client.ts";

const names = ["workQueue", "outcomes", "retryAfter", "receive", "permanentErrors"];

/** Shared by both ways of consuming from SQS with Python: what is done with one message. */
const perform = `def url_of(queue):
    return sqs.get_queue_url(QueueName=queue)["QueueUrl"]


def seconds_of(wanted, asked_ms):
    return -(-asked_ms // 1000) if wanted == "asked" else random.randint(wanted["from"], wanted["to"])


def send_copy(operation, body, attributes, group, message_id):
    """The whole message, with the reason on it. Raises where SQS does not take it."""
    added = {name: {"DataType": "String", "StringValue": text} for name, text in operation["attributes"].items()}
    fifo = {"MessageGroupId": group, "MessageDeduplicationId": message_id} if "fifo" in operation else {}
    sqs.send_message(
        QueueUrl=url_of(operation["queue"]), MessageBody=body, MessageAttributes={**attributes, **added}, **fifo
    )`;

/** What is the same however messages come. */
function beginningOf(contract: Contract, modules: readonly string[]): string {
  return `${modules.map((name) => `import ${name}`).join("\n")}

import boto3

${pythonContract(contract, names)}

sqs = boto3.client("sqs")


def handle(body, attempt):
    raise NotImplementedError("your code")


${pythonOutcomes}


${perform}`;
}

/** The plain client of AWS for Python. */
export function boto3(contract: Contract): Client {
  return {
    title: "Python, boto3",
    evidence: "Run by Redeliver's tests with boto3 1.44 against ElasticMQ and moto.",
    text: [
      "One message at a time, since the visibility timeout runs from the receive: none is received before its handler can begin. On SIGTERM it ends when its handler has, or its receive. It ends no handler that takes too long: give what the handler calls a timeout of its own. The process finds its region and credentials where AWS's own tools do.",
    ],
    code: [
      {
        language: "python",
        text: `${beginningOf(contract, ["json", "random", "signal"])}


def main():
    stopping = False

    def stop(*_):
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    work = url_of(CONTRACT["workQueue"])
    receive = CONTRACT["receive"]
    while not stopping:
        # A receive that is cut off may have taken a message all the same, so it is short enough to be waited for.
        answer = sqs.receive_message(
            QueueUrl=work,
            MaxNumberOfMessages=1,
            WaitTimeSeconds=5,
            MessageSystemAttributeNames=receive["messageSystemAttributeNames"],
            MessageAttributeNames=receive["messageAttributeNames"],
        )
        for message in answer.get("Messages", []):
            attempt = int(message["Attributes"]["ApproximateReceiveCount"])
            operations, asked_ms = run(lambda: handle(message["Body"], attempt), attempt)
            # No operation: the message comes back when its visibility timeout has passed.
            for operation in operations:
                own = {"QueueUrl": work, "ReceiptHandle": message["ReceiptHandle"]}
                name = operation["operation"]
                if name == "DeleteMessage":
                    sqs.delete_message(**own)
                elif name == "ChangeMessageVisibility":
                    seconds = seconds_of(operation["visibilityTimeoutSeconds"], asked_ms)
                    sqs.change_message_visibility(**own, VisibilityTimeout=seconds)
                else:
                    group = message["Attributes"].get("MessageGroupId")
                    attributes = message.get("MessageAttributes", {})
                    send_copy(operation, message["Body"], attributes, group, message["MessageId"])


if __name__ == "__main__":
    main()`,
      },
    ],
  };
}

/** A function of AWS Lambda, in Python. */
export function lambda(contract: Contract): Client {
  return {
    title: "AWS Lambda, Python",
    evidence:
      "Run by Redeliver's tests against ElasticMQ and moto, with a program in the place of Lambda that receives, invokes and deletes as Lambda does; not run in Lambda itself.",
    text: [
      "For an event source mapping with `ReportBatchItemFailures`, as a target with `lambda` makes it. What `DeleteMessage` would delete is left out of the answer, and Lambda deletes it; everything else is named in it. The function never raises: that would give back the whole batch.",
    ],
    code: [
      {
        language: "python",
        text: `${beginningOf(contract, ["base64", "json", "random"])}


def attributes_of(record):
    """The attributes as SendMessage takes them: an event writes them in other words, and binary ones as text."""
    found = {}
    for name, value in record["messageAttributes"].items():
        if value.get("stringValue") is not None:
            found[name] = {"DataType": value["dataType"], "StringValue": value["stringValue"]}
        else:
            found[name] = {"DataType": value["dataType"], "BinaryValue": base64.b64decode(value["binaryValue"])}
    return found


def settle(record):
    """Does the operations of one message's outcome. Returns whether Lambda is to delete it."""
    attempt = int(record["attributes"]["ApproximateReceiveCount"])
    operations, asked_ms = run(lambda: handle(record["body"], attempt), attempt)
    for operation in operations:
        name = operation["operation"]
        if name == "DeleteMessage":
            return True
        if name == "ChangeMessageVisibility":
            seconds = seconds_of(operation["visibilityTimeoutSeconds"], asked_ms)
            sqs.change_message_visibility(
                QueueUrl=url_of(CONTRACT["workQueue"]),
                ReceiptHandle=record["receiptHandle"],
                VisibilityTimeout=seconds,
            )
        else:
            group = record["attributes"].get("MessageGroupId")
            send_copy(operation, record["body"], attributes_of(record), group, record["messageId"])
    return False


def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            deleted = settle(record)
        except Exception:
            # What could not be settled comes back when its visibility timeout has passed.
            deleted = False
        if not deleted:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}`,
      },
    ],
  };
}
