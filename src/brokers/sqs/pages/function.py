import base64

from consumer import settle


def message_of(record):
    """The message as a receive gives it: an event names its parts otherwise, and has binary attributes as text."""
    attributes = {}
    for name, value in record["messageAttributes"].items():
        attributes[name] = {"DataType": value["dataType"]}
        if value.get("stringValue") is not None:
            attributes[name]["StringValue"] = value["stringValue"]
        else:
            attributes[name]["BinaryValue"] = base64.b64decode(value["binaryValue"])
    return {
        "MessageId": record["messageId"],
        "ReceiptHandle": record["receiptHandle"],
        "Body": record["body"],
        "Attributes": record["attributes"],
        "MessageAttributes": attributes,
    }


def handler(event, context):
    failures = []
    for record in event["Records"]:
        try:
            deleted = settle(message_of(record))
        except Exception:
            # What could not be settled comes back when its visibility timeout has passed.
            deleted = False
        if not deleted:
            failures.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failures}
