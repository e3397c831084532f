import type { CatalogueEntry } from "./catalogue-entry.ts";
import { error, warning } from "./catalogue-entry.ts";

/** RD740 to RD753: what an audit finds in topologies of Azure Service Bus that others made. */
export const servicebusAuditCatalogue = {
  RD740: error(
    "Months where minutes were meant",
    "Azure takes durations of ISO 8601 as plain text: P5M is five months, and PT5M five minutes. A time to live of five months keeps what ought to expire, and a lock of five months is refused in the middle of a deployment. Write PT before minutes.",
  ),
  RD741: error(
    "A lock that Service Bus does not take",
    "A lock is from 5 seconds to 5 minutes long. A deployment with another one fails half-way. A handler that takes longer has its lock renewed by the SDK.",
  ),
  RD742: error(
    "Forwards to nowhere",
    "The entity forwards to one that is not in the namespace. Azure refuses that when the entity is created, and dead-letters every message where the destination was deleted afterwards. Create the destination first: in a Pulumi program by passing the other resource's name, which is an output, and not a text.",
  ),
  RD743: error(
    "Forwards in a ring",
    "What is forwarded comes back to where it was. Service Bus forwards a message four times and then dead-letters it where it is, so each message is dead, or goes round with its delivery count started again. Forward to a queue that forwards nothing itself.",
  ),
  RD744: error(
    "Sessions and forwarding",
    "Messages in sessions are not forwarded: Azure refuses forwarding on an entity with sessions, with an error that does not name the reason, and nobody documents what becomes of messages that are forwarded into one. Let the subscription itself require sessions and receive from it, or do without sessions.",
  ),
  RD745: error(
    "A chain of more than four hops",
    "Service Bus forwards a message four times. The fifth time it dead-letters it in the middle of the chain, and does not forward that dead letter either. Forward straight to the last queue.",
  ),
  RD746: error(
    "Parked dead letters are dropped",
    "A dead-letter queue observes no time to live, but a queue that dead letters are forwarded to is a queue like any other. With a time to live and without dead-lettering on expiry it drops what nobody has looked at in time. Give it no time to live, and dead-lettering on expiry.",
  ),
  RD747: warning(
    "One delivery, then dead",
    "A delivery counts when it is abandoned, and when its lock runs out because its consumer is restarted. With a max delivery count of 1 such a message is dead without having been tried to its end. Choose as many deliveries as crashes of a consumer are to be survived.",
  ),
  RD748: error(
    "What expires is dropped",
    "With a time to live and without dead-lettering on expiry, which is what Azure takes where nothing is said, a message that nobody receives in time is deleted and nothing tells of it. An outage of a consumer loses messages then. Set deadLetteringOnMessageExpiration, or no time to live.",
  ),
  RD749: warning(
    "A delay by a time to live",
    "Dead letters of what has expired are forwarded, as in the retry queues of RabbitMQ. Service Bus promises no time at which a message expires, and a forwarded message carries its time to live, which runs again where it comes to. Schedule a copy for the time of the next attempt instead.",
  ),
  RD750: warning(
    "Duplicates are forgotten before a lock runs out",
    "A consumer that crashes after it sent something has its message again when the lock has run out, and sends it a second time. Duplicate detection drops that only while it knows the first. Choose a window that is longer than the lock.",
  ),
  RD751: warning(
    "$Default lets in everything",
    "Azure makes a rule named $Default with every subscription, and it lets in every message. Rules beside it are without effect, since one that lets a message in is enough. Delete it or give it another filter: in a Pulumi program with the resource DefaultRule.",
  ),
  RD752: error(
    "The tier does not have it",
    "The basic tier has queues and nothing else: no topics, no sessions, no duplicate detection, no forwarding. Azure refuses them in the middle of a deployment. Put the namespace into the standard tier, or do without them.",
  ),
  RD753: error(
    "A max delivery count that Service Bus does not take",
    "Each message is delivered once at least, so the max delivery count begins at 1. It is no switch: Azure refuses 0 in the middle of a deployment. Choose as many deliveries as crashes of a consumer are to be survived.",
  ),
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
