import { type CatalogueEntry, error, warning } from "../../../diagnostics/catalogue-entry.ts";

/** RD617 to RD624: the settings of a target for Amazon SQS beside its region. */
export const targetProblems = {
  RD617: error(
    "A key that SNS cannot use",
    "Every queue gets its messages from a topic, so SNS has to be able to use the key of the queue. The policy of a key that AWS manages, such as alias/aws/sqs, allows no service and cannot be changed. Every published message would be lost. Use a key of your own, or SSE-SQS, which needs none.",
  ),
  RD618: error(
    "Another region or account than that of the queues",
    "A queue, its dead queue, its key and its function have to be in one region. Redeliver makes all queues of a target in one account. This ARN names another one. AWS would refuse it in the middle of the deployment, or treat it as missing.",
  ),
  RD619: error(
    "The function ends before the handler may",
    "The declaration allows a handler more time than Lambda allows its function. When Lambda ends a function, every message of its batch has failed and has spent an attempt. Raise the function's timeout, or shorten handlerTimeout.",
  ),
  RD620: error(
    "A batch that Lambda or the order does not allow",
    "Lambda takes more than 10 messages at a time only with a batch window, and a FIFO queue has no window. In order, a function has to stop at the first failure and return everything after it. Untried messages would spend their attempts, so there a batch has one message. Change the batch as the fix says.",
  ),
  RD621: error(
    "A single receive with Lambda",
    "Lambda receives messages before it knows whether a function may run. If the function is throttled until the message is visible again, its one receive is spent. SQS moves it to the dead queue although no code saw it. Use at least five attempts.",
  ),
  RD622: warning(
    "Few attempts for Lambda",
    "Lambda receives messages before it knows whether a function may run, and a batch that is throttled for too long has spent a receive. With fewer than five attempts a busy hour can send healthy messages to the dead queue. AWS advises at least five, and maximumConcurrency rather than reserved concurrency.",
  ),
  RD623: warning(
    "The policy of the key has to allow SNS",
    "The queues are encrypted with a key of your own, and Redeliver cannot see its policy. The policy has to let sns.amazonaws.com use the key. Otherwise neither the work queue nor the queue of undelivered messages accepts messages from a topic, and published messages are lost. Check the policy, and try it with one message.",
  ),
  RD624: warning(
    "The provider is for another region",
    "Redeliver makes everything in the region of the target, and writes it on every resource. The provider of the program is for another region, and so probably is the rest of the program. Give the component a provider for the target's region, or change the target.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
