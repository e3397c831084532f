import { celery } from "../../../report/contract-page/celery.ts";
import { inline } from "../../../report/contract-page/markdown.ts";
import { errorQueue, massTransit, retriesInMemory } from "../../../report/contract-page/masstransit.ts";
import type { Client, ContractPages } from "../../contract-pages.ts";
import type { Contract } from "../compile/contract.ts";

const files = "brokers/sqs/pages";
const python = ["report/contract-page/outcomes.py", `${files}/consumer.py`];
const noTimeout = "It ends no handler that takes too long: give the handler's own calls a timeout.";

export const contractPages: ContractPages<Contract> = {
  fields: ["workQueue", "outcomes", "retryAfter", "receive", "permanentErrors"],
  attemptNumberOf: () => "the message's `ApproximateReceiveCount`, which the receive has to ask for",
  producersOf: ({ sources }) => {
    const direct = sources.find((source) => "queue" in source);
    if (direct === undefined) return null;
    return `send to the work queue with \`SendMessage\`${direct.fifo ? ", a `MessageGroupId`, which is the message's key, and a `MessageDeduplicationId`" : ""}`;
  },
  rulesOf: ({ receive, lambda }) => [
    `Ask for the system attributes ${receive.messageSystemAttributeNames.map(inline).join(", ")} and the message attributes ${receive.messageAttributeNames.map(inline).join(", ")}: SQS returns only the attributes that you ask for.`,
    "Receive no message before its handler can start: its visibility timeout runs from the receive.",
    "A copy keeps the body and all message attributes. Delete the message only after SQS has confirmed the copy.",
    ...(lambda === undefined
      ? []
      : [
          `The consumer is the function ${inline(lambda.function)} of AWS Lambda: for \`DeleteMessage\` it leaves the message out of \`batchItemFailures\`, and it names all other messages there.`,
        ]),
  ],
  // Only Lambda may receive from a queue that it polls.
  clientsOf: ({ lambda }) =>
    lambda === undefined ? [boto3, springCloudAws, massTransitOnSqs, celeryOnSqs] : [lambdaFunction],
};

const boto3: Client = {
  title: "Python, boto3",
  evidence: "Redeliver's tests run it with boto3 1.44 against ElasticMQ and moto.",
  text: [
    `It receives one message at a time, and only when its handler can start, because the visibility timeout runs from the receive. On SIGTERM it ends after its handler or its receive. ${noTimeout} The process finds its region and credentials like AWS's own tools.`,
  ],
  files: python,
};

const lambdaFunction: Client = {
  title: "AWS Lambda, Python",
  evidence:
    "Redeliver's tests run it against ElasticMQ and moto, with a program that receives, invokes and deletes like Lambda. It has not run in Lambda itself.",
  text: [
    "For an event source mapping with `ReportBatchItemFailures`, as a target with `lambda` makes it. Its handler is `function.handler`, and Lambda does not use the `main` of `consumer.py`. Lambda deletes every message that the answer does not name, so the answer names the messages that must not be deleted. The function never raises: that would return the whole batch.",
  ],
  files: [...python, `${files}/function.py`],
};

const springCloudAws: Client = {
  title: "Java, Spring Cloud AWS",
  evidence: "Redeliver's tests run it with Spring Cloud AWS 4.1 (Spring Boot 4.0) against ElasticMQ and moto.",
  text: [
    `Give it a bean of the type \`Outcomes.Handler<String>\`, which is your code, and put this setting into \`application.yaml\`: otherwise the container would make a missing queue, without a dead queue. It receives one message at a time, and only when its handler can start, because the visibility timeout runs from the receive. ${noTimeout}`,
    "In any acknowledgement mode but `MANUAL` the container deletes messages by itself, and its `Acknowledgement` may do so later, in a batch. So the operations are calls of the client.",
  ],
  files: [
    `${files}/spring-cloud-aws.yaml`,
    "report/contract-page/Outcomes.java",
    `${files}/SpringCloudAwsConsumer.java`,
  ],
};

const massTransitOnSqs = massTransit(
  [
    // `AmazonSqsReceiveLockContext.cs`, `RenewMessageVisibility` and `Faulted`:
    // `ChangeMessageVisibility(…, RedeliverVisibilityTimeout)`.
    `Its own endpoints cannot keep this contract: MassTransit makes its own queues and topics, ${retriesInMemory} and renews its visibility timeout, ${errorQueue}, and a returned message always has the same visibility timeout, \`RedeliverVisibilityTimeout\`.`,
  ],
  "Receive with `AWSSDK.SQS`, and perform the table's operations for each outcome.",
);

const celeryOnSqs = celery(
  // `celery/app/task.py`, `retry`. Tasks that are due later: `celery/worker/strategy.py`, `task_message_handler`,
  // `apply_eta_task`.
  "Celery's own retry cannot keep this contract. `self.retry()` sends a new message with a new receive count, so SQS never reaches the end of its count. Celery holds a task that is due later in memory while its visibility timeout runs out.",
  "Read this queue with the snippet for boto3, as `consumer.py`, in a separate process, and let it run the task. `apply` stays in the process, and the handler raises the task's exceptions. Let the task raise instead of retrying.",
);
