import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error, warning } from "./catalogue-entry.ts";

/** RD6xx: what Amazon SQS, and SNS in front of it, cannot do, or do only at a price. */
export const sqsCatalogue = {
  RD601: error(
    "Unknown region or strategy",
    "A target of Amazon SQS is a region of AWS, such as sqs@eu-west-1, with a strategy that SQS has. Everything is made in that one region, since a queue and its dead queue have to be in the same one. A mistyped region would be found out only by a deployment that waits for an answer of nobody. Name one of the regions in the note.",
  ),
  RD602: error(
    "The strategy cannot keep what is declared",
    "The strategy was asked for by name, and something in the declaration is beyond it. Under redrive the queue's own visibility timeout is the delay, so it is the same for every message and every attempt; under visibility a delay ends at the latest 12 hours after the receive. Use the strategy that the fix names, or auto.",
  ),
  RD603: error(
    "No strategy keeps what is declared",
    "Neither of the two ways of using SQS keeps everything that the declaration asks for. SQS has one counter for failures, crashes and returns, counts whole seconds, and hides a message for 12 hours at most. The notes say what stands in the way of each strategy; change the field that the fix names.",
  ),
  RD604: error(
    "Name not usable on SQS",
    "Names of queues and topics have letters, digits, hyphens and underscores, and a queue's name has at most 80 characters with everything that is derived from it. The `.fifo` at the end of FIFO names is added where it belongs, and counts. AWS would refuse the name in the middle of a deployment.",
  ),
  RD605: error(
    "Two queues would have the same name",
    "The names of a consumer's queues are derived from its own name, as in shop-billing-dead. Here two of them meet, so that one consumer's messages would land in the other's queue. Rename one of the two.",
  ),
  RD606: error(
    "SQS has no queue for every instance",
    "A queue of SQS is there until somebody deletes it, and so is its subscription. A queue that an instance made for itself would go on filling up after the instance has died, and would be paid for. Use one work queue for the consumer, or a target whose queues end with their connection.",
  ),
  RD607: warning(
    "A returned message costs an attempt",
    "SQS counts every receive, whether the message was tried, handed back at a shutdown or only looked at in the console. A consumer that receives many messages and then stops spends an attempt of each. Receive no more messages at a time than are handled at once, or raise attempts.",
  ),
  RD608: error(
    "SNS cannot filter by this",
    "A subscription of SNS compares the whole routing key, its beginning or its end, and takes 150 values at most. A pattern such as order.# is a beginning; order.* is not, since the beginning would also take order.placed.again. Nothing is taken that was not asked for, so list the routing keys, or ask for more and let the handler pass over the rest.",
  ),
  RD609: error(
    "Retries take longer than SQS keeps a message",
    "SQS deletes a message 14 days after it was published, wherever it is, and does not put it into the dead queue. With these attempts and delays a message could be deleted before its last attempt, and nobody would know. Use fewer attempts or shorter delays.",
  ),
  RD610: error(
    "Dead letters cannot be kept so long",
    "SQS keeps a message for 14 days in all. On a standard queue the clock starts when the message is published and goes on in the dead queue, so the time that its retries take is missing there; on a FIFO queue it starts again. Choose a shorter time, and archive what has to stay longer.",
  ),
  RD611: warning(
    "One receive, then dead",
    "With one attempt the first receive is the last. SQS counts it when it sends the answer, and an answer can be lost on its way, so a message can be dead that no handler ever saw; AWS advises against it. Use at least two attempts, with a handler that can be repeated.",
  ),
  RD612: warning(
    "No handler timeout is declared",
    "A receive hides a message for a time that is known beforehand, the visibility timeout. Without a handlerTimeout it is the 30 seconds that SQS has by default: a handler that takes longer has its message handled a second time beside it, and loses an attempt. Declare how long the handler may run.",
  ),
  RD613: error(
    "The handler may run longer than SQS hides a message",
    "SQS hides a message for 12 hours after its receive, however often that is extended. A handler that runs longer would have its message handled again beside it. Let the handler start the long work elsewhere and end.",
  ),
  RD614: warning(
    "No whole second of jitter",
    "SQS counts whole seconds, so a delay is spread over the whole seconds that lie within its jitter. Here there is none but the delay itself, and failures that happen together come back together. Raise the jitter or the delay.",
  ),
  RD615: warning(
    "Fourteen days are short here",
    "SQS keeps a message for 14 days in all, in the work queue and in the dead queue together. Here one of the two gets less than 4 days, which is what SQS itself takes for a queue. What is older is deleted without a word: look at dead letters soon, or see to it that consumers are never away for long.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
