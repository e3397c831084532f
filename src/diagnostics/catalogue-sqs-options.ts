import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error, warning } from "./catalogue-entry.ts";

/** RD616 to RD624: what a target for Amazon SQS says beside its region. */
export const sqsOptionsCatalogue = {
  RD616: error(
    "Option of the target not usable",
    "A target for Amazon SQS may name an account, a key, tags, functions of Lambda and dead queues that are emptied. One of these has a name, a form or a number that AWS would refuse in the middle of a deployment, or names a consumer that there is not. Write it as the fix says.",
  ),
  RD617: error(
    "A key that SNS cannot use",
    "Every queue gets its messages from a topic, so SNS has to be able to use the key that the queue is encrypted with. The policy of a key that AWS manages, such as alias/aws/sqs, lets no service in and cannot be changed: whatever is published would be lost. Use a key of your own, or SSE-SQS, which needs none.",
  ),
  RD618: error(
    "Another region or account than the queues'",
    "A queue, its dead queue, its key and its function have to be in one region, and Redeliver makes all of a target's queues in one account. What is named by its ARN here lies elsewhere. AWS would refuse it in the middle of the deployment, or take it for something that is not there.",
  ),
  RD619: error(
    "The function ends before the handler may",
    "The declaration lets a handler run for longer than Lambda lets its function run. A function that is ended has failed with every message of its batch, and each of them has spent an attempt. Raise the function's timeout, or shorten handlerTimeout.",
  ),
  RD620: error(
    "A batch that Lambda or the order does not allow",
    "Lambda takes more than 10 messages at a time only with a batch window, and a FIFO queue has no window. In order a function has to stop at the first failure and give back everything after it, so messages that were never tried would spend their attempts; there a batch has one message. Change the batch as the fix says.",
  ),
  RD621: error(
    "A single receive with Lambda",
    "Lambda receives messages before it knows that a function may run. Where the function is throttled until the message is visible again, its one receive is spent, and it goes to the dead queue although no code ever saw it. Use five attempts at least.",
  ),
  RD622: warning(
    "Few attempts for Lambda",
    "Lambda receives messages before it knows that a function may run, and a batch that is throttled for too long has spent a receive. With fewer than five attempts a busy hour can send healthy messages to the dead queue. AWS advises five at least, and maximumConcurrency rather than reserved concurrency.",
  ),
  RD623: warning(
    "The key's policy has to let SNS in",
    "The queues are encrypted with a key of your own, and Redeliver cannot see its policy. Unless that lets sns.amazonaws.com use the key, neither the work queue nor the queue of undelivered messages takes anything from a topic, and what is published is lost. Look at the policy, and try it with one message.",
  ),
  RD624: warning(
    "The provider is for another region",
    "Everything is made in the region of the target, which stands on every resource. The provider of the program is for another one, where the rest of the program probably is. Give the component a provider for the target's region, or change the target.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
