import type { Client } from "./client.ts";

const evidence = "From what is known of it; nothing was run.";

/** Frameworks with retries and topologies of their own, which cannot keep a contract on RabbitMQ. */
export const rabbitmqFrameworks: readonly Client[] = [
  {
    title: ".NET, MassTransit",
    evidence,
    text: [
      "It cannot keep this contract. MassTransit retries in memory while it holds the message, or through an exchange of a plugin; a message that failed for good it publishes to its own `_error` queue and acknowledges. So the broker counts nothing, and the dead queue stays empty. It also declares queues and exchanges of its own. Read this queue with `RabbitMQ.Client` in a hosted service, as the plain client above does, and call the consumer's code from there.",
    ],
  },
  {
    title: "Python, Celery",
    evidence,
    text: [
      "Celery's own retry cannot keep this contract: `self.retry()` publishes a new task and acknowledges the old one, with a count of its own, by default without waiting for a confirm, and through delay queues of its own. Its messages have a form of their own, too. Read this queue with the snippet for pika in a process of its own; where the work itself belongs into a Celery task, run it there with `task.apply()`, which does not leave the process, and let the outcome be the task's.",
    ],
  },
];

/** The same on Amazon SQS. */
export const sqsFrameworks: readonly Client[] = [
  {
    title: "Java, Spring Cloud AWS",
    evidence,
    text: [
      "`@SqsListener` keeps the contract with `acknowledgementMode = MANUAL`: call `Acknowledgement.acknowledge()` for `DeleteMessage`, `Visibility.changeTo(seconds)` for `ChangeMessageVisibility`, and `SqsTemplate` or the SDK for the copy, before the acknowledgement. The default mode, `ON_SUCCESS`, leaves a failed message to the queue's own visibility timeout. Set `maxConcurrentMessages` and `maxMessagesPerPoll` so that no message waits in memory: its visibility timeout runs from the receive.",
    ],
  },
  {
    title: ".NET, MassTransit",
    evidence,
    text: [
      "It cannot keep this contract: MassTransit makes queues and topics of its own, retries in memory while the visibility timeout runs, and puts what failed for good into its own `_error` queue. Read this queue with `AWSSDK.SQS`.",
    ],
  },
  {
    title: "Python, Celery",
    evidence,
    text: [
      "Celery's own retry cannot keep this contract: `self.retry()` sends a new message, whose receives begin at one again, so SQS never comes to the end of its count; and a task that is due later is held in memory while its visibility timeout runs out. Read this queue with the snippet for boto3.",
    ],
  },
];
