import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { pythonContract, pythonOutcomes } from "./client.ts";

/** How a message is read, and how a copy of it is made. */
const reading = `def attempt_of(method, properties):
    where = CONTRACT["attemptNumber"]
    if where["from"] == "header":
        return int((properties.headers or {}).get(where["header"], 0)) + 1
    key = method.routing_key
    return int(key[len(where["prefix"]):]) if key.startswith(where["prefix"]) else 1


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
    publisher.basic_publish(place["exchange"], operation["routingKey"], body, copied, mandatory=True)`;

/** The plain client of RabbitMQ for Python. */
export function pika(contract: Contract): Client {
  const names = ["workQueue", "outcomes", "retryAfter", "attemptNumber", "permanentErrors"];
  const heartbeatSeconds = Math.max(60, Math.ceil((contract.handlerTimeoutMs ?? 0) / 1_000) * 2);
  return {
    title: "Python, pika",
    evidence:
      "Run by Redeliver's tests with pika 1.4 against live RabbitMQ, with every strategy that speaks AMQP 0-9-1.",
    text: [
      "One message at a time. A copy that the broker returns or refuses raises, the connection ends, and the message comes back: nothing is acknowledged before its copy is safe. On SIGTERM it ends when its handler has. It ends no handler that takes too long: give what the handler calls a timeout of its own.",
    ],
    code: [
      {
        language: "python",
        text: `import copy
import json
import os
import random
import signal

import pika

${pythonContract(contract, names)}


def handle(body, attempt):
    raise NotImplementedError("your code")


${pythonOutcomes}


${reading}


def main(url):
    parameters = pika.URLParameters(url)
    # A handler that runs for longer than two heartbeats would lose its connection.
    parameters.heartbeat = ${heartbeatSeconds}
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
        operations, asked_ms = run(lambda: handle(body, attempt), attempt)
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
    main(os.environ["AMQP_URL"])`,
      },
    ],
  };
}
