import { operationsIn } from "../../../contract/interpret.ts";
import { celery } from "../../../report/contract-page/celery.ts";
import { inline } from "../../../report/contract-page/markdown.ts";
import { errorQueue, massTransit, retriesInMemory } from "../../../report/contract-page/masstransit.ts";
import type { Client, ContractPages } from "../../contract-pages.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import { defaultExchange } from "../compile/names.ts";

const files = "brokers/rabbitmq/pages";
const noTimeout = "It ends no handler that takes too long: give the handler's own calls a timeout.";

export const contractPages: ContractPages<Contract> = {
  fields: ["workQueue", "outcomes", "retryAfter", "attemptNumber", "handlerTimeoutMs", "permanentErrors"],
  attemptNumberOf: ({ attemptNumber }) => {
    if (attemptNumber === null) return "always 1";
    return attemptNumber.from === "header"
      ? `the header \`${attemptNumber.header}\`, plus 1; 1 where it is missing`
      : attemptNumber.from === "exchange"
        ? `the text after ${inline(attemptNumber.prefix)} in the name of the exchange that the message came through; 1 for every other exchange`
        : `the text after ${inline(attemptNumber.prefix)} in the routing key; 1 for every other key`;
  },
  producersOf: ({ sources, refusesWhenFull }) => {
    const direct = sources.find(({ exchange }) => exchange === defaultExchange);
    const rules = [
      ...(direct === undefined
        ? []
        : [
            `publish to the default exchange, which has the empty name, with the routing key ${direct.routingKeys.map(inline).join(", ")}, mandatory and with confirms`,
          ]),
      ...(refusesWhenFull === true
        ? ["wait for confirms, and publish again later if the broker refuses: the work queue is full then"]
        : []),
    ];
    return rules.length === 0 ? null : rules.join("; ");
  },
  rulesOf: (contract) => [
    ...copyRulesOf(contract),
    "Return untried messages before you close the connection: on some versions an interrupted message counts as a crash.",
  ],
  clientsOf: ({ protocol, workQueue }) => {
    if (protocol === "amqp-1.0") return [amqpClientJava, anyAmqp10];
    return workQueue === null ? [] : [pika, springAmqp, rabbitmqDotnet, massTransitOnRabbitmq, celeryOnRabbitmq];
  },
};

function copyRulesOf(contract: Contract): readonly string[] {
  const copies = operationsIn<Operation>(contract).filter(({ operation }) => operation === "basic.publish");
  if (copies.length === 0) return [];
  return [
    "A copy keeps the body, the properties and the headers of the message, except for the headers that the operation names. It drops the publisher's `expiration`, which would delete a dead letter, and its `user-id`, which the broker would refuse. CC and BCC would also send it elsewhere.",
    ...(copies.some((copy) => "spread" in copy)
      ? [
          "Jitter is a choice of exchanges. If `basic.publish` has a `spread`, choose one of its entries, or the operation's own `exchange` and `expiration`, at random and with equal probability. The operation's own alone is also correct: every copy then waits for the longest delay.",
        ]
      : []),
    "A copy is published with `mandatory` on a channel with publisher confirms. Only when it is confirmed, and was not returned, is the message acknowledged. Otherwise close the connection: the message comes back.",
  ];
}

const pika: Client = {
  title: "Python, pika",
  evidence: "Run by Redeliver's tests with pika 1.4 against live RabbitMQ, with every strategy that speaks AMQP 0-9-1.",
  text: [
    `One message at a time, from the broker that \`AMQP_URL\` names. A copy that the broker returns or refuses raises, the connection ends, and the message comes back: nothing is acknowledged before its copy is safe. On SIGTERM it ends when its handler has. ${noTimeout}`,
  ],
  files: ["report/contract-page/outcomes.py", `${files}/consumer.py`],
};

/** Spring AMQP with acknowledgements by hand. Its own retry and its error handlers would break the contract. */
const springAmqp: Client = {
  title: "Java, Spring AMQP",
  evidence:
    "Run by Redeliver's tests with Spring AMQP 4.1 (Spring Boot 4.1) against live RabbitMQ, with every strategy that speaks AMQP 0-9-1.",
  text: [
    // Without the first three settings, a copy that the broker returns or refuses would be lost. `prefetch` is for a
    // shutdown.
    `Give it a bean of the type \`Outcomes.Handler<byte[]>\`, which is your code, and put these settings into \`application.yaml\`. If the broker returns or refuses a copy, the container closes the channel after 5 s: it acknowledges no message before its copy is safe. The container opens another channel at once, and the message comes back. The broker counts that as a crash. ${noTimeout}`,
    "Leave `spring.rabbitmq.listener.simple.retry` off: it repeats in memory, and the broker counts nothing. Without manual acknowledgements the container gives every failed message back to the queue (`defaultRequeueRejected`), which is the operation for *return*. Spring adds headers of its own to a copy: `spring_returned_message_correlation`, `spring_listener_return_correlation`, and `retry-count`, which is not the number of the attempt.",
    "For a second consumer in one application, give its class another name, and its handler a `@Qualifier`. If your code needs the id or the headers of a message, make it a `Handler<Message>`, and pass `message` to `run`.",
  ],
  files: [`${files}/spring-amqp.yaml`, "report/contract-page/Outcomes.java", `${files}/SpringAmqpConsumer.java`],
};

// Source: RabbitMQ.Client 7.2.1, `IChannel.cs`, `CreateChannelOptions.cs`, `BasicProperties.cs`,
// `AsyncEventingBasicConsumer.cs`. `AsyncDefaultBasicConsumer.cs` lends a body. It unregisters a consumer after a
// cancel, a cancel of the broker and the end of its channel. In `Impl/Channel.PublisherConfirms.cs` an awaited publish
// throws.
const rabbitmqDotnet: Client = {
  title: ".NET, RabbitMQ.Client",
  evidence:
    "Written after the sources of RabbitMQ.Client 7.2.1. Redeliver's tests parse it as C#; it was neither compiled nor run.",
  text: [
    'It handles one message at a time, for .NET 8 and later. Register it with `builder.Services.AddHostedService(services => new Consumer(new Uri("amqp://…"), services.GetRequiredService<IHandler>()))`; `IHandler` is your code. If the broker returns or refuses a copy, it throws, the connection ends, and the message comes back: it acknowledges no message before its copy is safe. At a shutdown it waits for its handler and returns the messages that it has not begun. RabbitMQ.Client gives every copy the header `x-dotnet-pub-seq-no`.',
  ],
  files: [`${files}/Consumer.cs`],
};

const massTransitOnRabbitmq = massTransit(
  [
    // The exchange: `RabbitMqEndpointAddress.cs`, `DelayedMessageExchangeType`. The topology:
    // `ConfigureRabbitMqTopologyFilter.cs`.
    `Its own endpoints cannot keep this contract. ${retriesInMemory}, and \`UseDelayedRedelivery\` goes through an exchange of the plugin \`x-delayed-message\`; ${errorQueue}. So the broker counts nothing, and the dead queue stays empty. They also declare queues and exchanges of their own, and \`ConfigureConsumeTopology = false\` takes only the exchanges of messages away.`,
    // `ReceivePipeConfigurationExtensions.cs`. `RabbitMqReceiveLockContext.cs`, `Faulted`:
    // `BasicNack(…, requeue: true)`.
    "`RethrowFaultedMessages` requeues a failed message with `basic.nack`, which is the operation for *return*. It comes back at once, and from RabbitMQ 4.3 without end.",
  ],
  "Here the snippet for RabbitMQ.Client above receives and settles, with an `IHandler` that returns `massTransit.HandleAsync(delivery.Body, delivery.Properties.ContentType, attempt, token)`.",
);

const celeryOnRabbitmq = celery(
  // `celery/app/task.py`, `retry`: `apply_async` with `retries + 1`. `celery/worker/request.py`: `acknowledge` before
  // the task runs, or with `acks_late` in `on_retry`. `celery/app/defaults.py`: `acks_late` is off.
  // `celery/app/base.py`, `send_task`, and `kombu/transport/native_delayed_delivery.py`: the queues `celery_delayed_0`
  // to `27`. Confirms: `docs/userguide/configuration.rst`.
  "Celery's own retry cannot keep this contract. `self.retry()` publishes a new task with its own count, and waits for no confirm unless `confirm_publish` is set. With quorum queues it uses its own delay queues. It acknowledges the old task, by default before it runs (`acks_late` is off), so a crash of the process loses it. Its messages also have their own format.",
  // `celery/app/task.py`, `retry`: "if task was executed eagerly using apply(), then the retry must also be executed
  // eagerly".
  "Read this queue with the snippet for pika, as `consumer.py`, in a separate process, and let it run the task. `apply` stays in the process, and the handler raises the task's exceptions. A `self.retry()` in it, or `autoretry_for`, would run it again at once, without a delay, so let it raise instead.",
);

const amqpClientJava: Client = {
  title: "Java, RabbitMQ's AMQP 1.0 client",
  evidence: "Run by Redeliver's tests with com.rabbitmq.client:amqp-client 1.5 against live RabbitMQ 4.3.",
  text: [
    // `discard` says delivery-failed, too. Source: `AmqpConsumer.java`, `DeliveryContext`.
    `It handles one message at a time. \`delayedRetry\` needs version 1.3 or later, and its \`true\`: without it the broker does not count the failure, and the message comes back for ever. It reckons with the clock of its machine, and the queue with the broker's. So keep that clock right: retries are early by the time that it is behind. It reconnects by itself. \`close\` waits for the running handler and returns the other messages: call it at a shutdown. ${noTimeout}`,
  ],
  files: ["report/contract-page/Outcomes.java", `${files}/Amqp10Consumer.java`],
};

const anyAmqp10: Client = {
  title: "Any other client of AMQP 1.0",
  evidence: "Nothing was run.",
  text: [
    "Send the outcome of the table with each disposition; `x-opt-delivery-time` is a message annotation of the outcome `modified`, as a timestamp or as a long of milliseconds. The queue compares it with the broker's clock, so a consumer's clock that is behind makes retries early. Clients of AMQP 0-9-1 cannot say it: for them choose another strategy.",
  ],
};
