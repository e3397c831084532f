import copy
import json
import math
import os
import random
import signal

import pika
from outcomes import run

CONTRACT = json.loads(r"""
{
  "workQueue": "shop.billing",
  "outcomes": {
    "success": [{"operation": "basic.ack"}],
    "transient": [{"operation": "basic.reject", "requeue": true}],
    "permanent": [{"operation": "basic.nack", "requeue": false}],
    "return": [{"operation": "basic.nack", "requeue": true}]
  },
  "attemptNumber": {"from": "header", "header": "x-delivery-count"},
  "handlerTimeoutMs": null,
  "permanentErrors": ["ValidationError"]
}
""")


def handle(body, attempt):
    raise NotImplementedError("your code")


def attempt_of(method, properties):
    where = CONTRACT["attemptNumber"]
    if where is None:
        return 1
    if where["from"] == "header":
        return int((properties.headers or {}).get(where["header"], 0)) + 1
    name = method.exchange if where["from"] == "exchange" else method.routing_key
    return int(name[len(where["prefix"]) :]) if name.startswith(where["prefix"]) else 1


def publish_copy(publisher, method, properties, body, operation, asked_ms):
    """The whole message but for what the contract names. Raises where it is returned or refused."""
    own = properties.headers or {}
    headers = {name: value for name, value in own.items() if name not in operation["removeHeaders"]}
    if "copyRoutingKeyTo" in operation:
        headers.setdefault(operation["copyRoutingKeyTo"], method.routing_key)
    headers.update(operation.get("headers", {}))
    # Jitter: any of the exchanges will do, each with its own wait.
    place = random.choice([operation, *operation.get("spread", [])])
    wanted = place["expirationMs"]
    copied = copy.copy(properties)
    copied.headers = headers
    copied.user_id = None
    if wanted is None:
        copied.expiration = None
    elif wanted == "asked":
        copied.expiration = str(asked_ms)
    else:
        copied.expiration = str(random.randint(wanted["from"], wanted["to"]))
    publisher.basic_publish(place["exchange"], operation["routingKey"], body, copied, mandatory=True)


def main():
    parameters = pika.URLParameters(os.environ["AMQP_URL"])
    # A handler that runs for longer than two heartbeats would lose its connection.
    parameters.heartbeat = max(60, 2 * math.ceil((CONTRACT["handlerTimeoutMs"] or 0) / 1_000))
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    publisher = connection.channel()
    publisher.confirm_delivery()
    stopping = False

    def stop(*_):
        nonlocal stopping
        stopping = True

    def on_message(channel, method, properties, body):
        attempt = attempt_of(method, properties)
        operations, asked_ms = run(CONTRACT, lambda: handle(body, attempt), attempt)
        if stopping:
            # Before this one is settled: the next message would be rejected by pika, which can count as a failure.
            channel.basic_cancel(method.consumer_tag)
        for operation in operations:
            name = operation["operation"]
            if name == "basic.ack":
                channel.basic_ack(method.delivery_tag)
            elif name == "basic.nack":
                channel.basic_nack(method.delivery_tag, requeue=operation["requeue"])
            elif name == "basic.reject":
                channel.basic_reject(method.delivery_tag, requeue=operation["requeue"])
            else:
                publish_copy(publisher, method, properties, body, operation, asked_ms)

    signal.signal(signal.SIGTERM, stop)
    channel.basic_consume(CONTRACT["workQueue"], on_message)
    while not stopping:
        connection.process_data_events(time_limit=1)
    connection.close()


if __name__ == "__main__":
    main()
