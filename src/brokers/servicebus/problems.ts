import { type CatalogueEntry, error, warning } from "../../diagnostics/catalogue-entry.ts";

/** The codes of Azure Service Bus. */
export const servicebusProblems = {
  // RD70x to RD73x: declarations that Azure Service Bus alone cannot keep, or keeps only at a price.
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
  RD724: warning(
    "Duplicate detection without an effect",
    "The target asks for duplicate detection, and its place is the work queue. A consumer with order and a source has none: it receives from its subscription. Service Bus detects duplicates in queues and topics, and not in subscriptions. So a message that a publisher sends twice is handled twice. Handle each message once in the consumer's code, and let `duplicates` name the other consumers.",
  ),
  // RD740 to RD753: the findings that only an audit of Azure Service Bus has.
  RD740: error(
    "Months where minutes were meant",
    "Azure takes durations of ISO 8601 as plain text: P5M is five months, and PT5M five minutes. A time to live of five months keeps messages that ought to expire. Azure refuses a lock of five months in the middle of a deployment. Write PT before minutes.",
  ),
  RD741: error(
    "A lock that Service Bus does not accept",
    "A lock is from 5 seconds to 5 minutes long. With another value a deployment fails half-way. The SDK renews the lock for a handler that takes longer.",
  ),
  RD742: error(
    "The forwarding destination does not exist",
    "The entity forwards to one that is not in the namespace. Azure refuses that when the entity is created. If the destination is deleted later, Azure dead-letters every message. Create the destination first: in a Pulumi program pass the other resource's name output, and not a text.",
  ),
  RD743: error(
    "Forwards in a ring",
    "A forwarded message returns to the entity that forwarded it. Service Bus forwards a message four times and then dead-letters it. So each message dies, or goes round with its delivery count started again. Forward to a queue that forwards nothing.",
  ),
  RD744: error(
    "An entity with sessions forwards nothing",
    "Azure refuses forwarding on an entity with sessions, with an error that does not name the reason. Messages can be forwarded into one, if they have a session id. So receive from the entity itself, or let it forward without sessions into a queue that requires them.",
  ),
  RD745: error(
    "A chain of more than four hops",
    "Service Bus forwards a message four times. The fifth time it dead-letters it in the middle of the chain, and does not forward that dead letter. Forward directly to the last queue.",
  ),
  RD746: error(
    "Parked dead letters are dropped",
    "A dead-letter queue ignores times to live, but a queue that receives forwarded dead letters is an ordinary queue. With a time to live and without dead-lettering on expiry it drops unread messages when they expire. Remove the time to live, and switch on dead-lettering on expiry.",
  ),
  RD748: error(
    "Expired messages are dropped",
    "The entity has a time to live and no dead-lettering on expiry, which is Azure's default. Azure deletes a message that no consumer receives in time, without notice. An outage of a consumer then loses messages. Set deadLetteringOnMessageExpiration, or no time to live.",
  ),
  RD749: warning(
    "A delay by a time to live",
    "The entity forwards the dead letters of expired messages, like the retry queues of RabbitMQ. Service Bus promises no time at which a message expires. A forwarded message keeps its time to live, which runs again at the destination. Schedule a copy for the time of the next attempt instead.",
  ),
  RD750: warning(
    "Duplicates are forgotten before a lock runs out",
    "A consumer that crashes after it sent a message receives its own again when the lock ends, and sends a second time. Duplicate detection drops the second one only while it remembers the first. Choose a window that is longer than the lock.",
  ),
  RD751: warning(
    "The rule $Default accepts every message",
    "Azure makes a rule named $Default with every subscription, and it accepts every message. Other rules beside it have no effect, because one match is enough. Delete it or give it another filter: in a Pulumi program with the resource DefaultRule.",
  ),
  RD752: error(
    "The tier does not have it",
    "The basic tier has queues and nothing else: no topics, no sessions, no duplicate detection, no forwarding. Azure refuses them in the middle of a deployment. Move the namespace to the standard tier, or remove them.",
  ),
  RD753: error(
    "A max delivery count that Service Bus does not accept",
    "Each message is delivered at least once, so the max delivery count begins at 1. Azure refuses 0 in the middle of a deployment: it does not mean off. Choose the number of consumer crashes that a message has to survive.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
