import { type CatalogueEntry, error, warning } from "../../../diagnostics/catalogue-entry.ts";

/** RD70x to RD73x: declarations that Azure Service Bus alone cannot keep, or keeps only at a price. */
export const compileProblems = {
  RD704: error(
    "The tier does not have it",
    "The basic tier has queues and nothing else. It has no topics, so no source with several consumers or with routing keys. It has no sessions, so no order per key. It has no duplicate detection and no forwarding. Azure would refuse them in the middle of a deployment. Use the standard tier.",
  ),
  RD710: error(
    "Order over several sources",
    "Service Bus cannot forward messages of sessions into a queue, so an ordered consumer receives from its subscription, one for each source. Service Bus keeps no order between two sources. Take one source in order, or publish ordered messages to one source.",
  ),
  RD715: warning(
    "A tier with a time to live is not precise",
    "Service Bus is not made for this pattern of RabbitMQ. It promises no time at which a message expires. A forwarded message keeps its time to live, which runs again in the work queue. A message that waits there as long dies before its attempts. Nothing is lost, and no attempt comes early. Scheduled copies have none of these faults.",
  ),
  RD716: warning(
    "Duplicates are forgotten before a crash is over",
    "A consumer that crashes between its copy and the completion of the message gets the message again when the lock ends. It sends the copy a second time, with the same id. Duplicate detection drops the second one only while it remembers the first. Choose a window that is longer than the lock.",
  ),
  RD717: error(
    "The official emulator does not accept this",
    'Microsoft\'s emulator accepts less than Service Bus: 10 deliveries, 50 queues and topics, and 70 SQL filters of a topic. Times to live are from 5 minutes to an hour. Each topic needs a subscription. On a configuration file beyond that it ends with "Out of memory", so Redeliver writes none. The compiled result for Service Bus is not affected.',
  ),
  RD718: warning(
    "The official emulator forgets after an hour",
    "A queue of the emulator has a time to live of at most an hour. The configuration file says an hour if the topology has no time to live. The emulator dead-letters a message that waits longer, unless it is scheduled. Service Bus would not. Tests are seldom that long.",
  ),
  RD723: warning(
    "Dead letters of sessions in one dead queue",
    "Azure refuses to forward the messages of an entity with sessions. Its dead letters have no sessions any more. Microsoft does not say whether Azure forwards them. If Azure refuses, the deployment stops at that subscription, and nothing is lost. Try it in a test namespace, or keep dead letters in the entity where they died.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
