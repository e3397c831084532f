import json
import random
import signal

import boto3
from outcomes import run

CONTRACT = json.loads(r"""
{
  "workQueue": "shop-billing.fifo",
  "outcomes": {
    "success": [{"operation": "DeleteMessage"}],
    "permanent": [
      {
        "operation": "SendMessage",
        "queue": "shop-billing-dead.fifo",
        "attributes": {"dlq-original-queue": "shop-billing.fifo", "dlq-failure-reason": "PERMANENT_FAILURE"},
        "fifo": {"messageGroupId": "kept", "messageDeduplicationId": "message-id"}
      },
      {"operation": "DeleteMessage"}
    ],
    "return": [{"operation": "ChangeMessageVisibility", "visibilityTimeoutSeconds": {"from": 0, "to": 0}}],
    "transient": []
  },
  "receive": {
    "maxNumberOfMessages": 1,
    "messageSystemAttributeNames": ["ApproximateReceiveCount", "MessageGroupId"],
    "messageAttributeNames": ["All"]
  },
  "permanentErrors": ["ValidationError"]
}
""")

sqs = boto3.client("sqs")


def handle(body, attempt):
    raise NotImplementedError("your code")


def url_of(queue):
    return sqs.get_queue_url(QueueName=queue)["QueueUrl"]


def settle(message):
    """Runs the handler, and does the operations of its outcome. Returns whether the message is to be deleted."""
    attempt = int(message["Attributes"]["ApproximateReceiveCount"])
    operations, asked_ms = run(CONTRACT, lambda: handle(message["Body"], attempt), attempt)
    # Without an operation the message comes back when its visibility timeout has passed.
    for operation in operations:
        if operation["operation"] == "DeleteMessage":
            return True
        if operation["operation"] == "ChangeMessageVisibility":
            wanted = operation["visibilityTimeoutSeconds"]
            seconds = -(-asked_ms // 1000) if wanted == "asked" else random.randint(wanted["from"], wanted["to"])
            own = {"QueueUrl": url_of(CONTRACT["workQueue"]), "ReceiptHandle": message["ReceiptHandle"]}
            sqs.change_message_visibility(**own, VisibilityTimeout=seconds)
        else:
            send_copy(operation, message)
    return False


def send_copy(operation, message):
    """The whole message, with the reason on it. Raises where SQS does not take it."""
    added = {name: {"DataType": "String", "StringValue": text} for name, text in operation["attributes"].items()}
    fifo = {}
    if "fifo" in operation:
        group = message["Attributes"]["MessageGroupId"]
        fifo = {"MessageGroupId": group, "MessageDeduplicationId": message["MessageId"]}
    attributes = {**message.get("MessageAttributes", {}), **added}
    queue = url_of(operation["queue"])
    sqs.send_message(QueueUrl=queue, MessageBody=message["Body"], MessageAttributes=attributes, **fifo)


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
            if settle(message):
                sqs.delete_message(QueueUrl=work, ReceiptHandle=message["ReceiptHandle"])


if __name__ == "__main__":
    main()
