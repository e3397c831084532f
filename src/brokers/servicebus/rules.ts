import { idempotence, limitedRetries, testedChanges, watchedQueues } from "../../policy/frameworks.ts";
import { topologyRules } from "../../policy/rule.ts";

/** The rules of the policy pack for Service Bus, in the order of pages and reports. */
export const rules = topologyRules("servicebus", {
  servicebusForwardingRing: {
    description: "Messages that Service Bus forwards do not come back.",
    severity: "critical",
    tags: ["servicebus", "forwarding", "loops"],
    framework: watchedQueues,
    why: "Two queues that forward to each other each looked sensible when they were made. Service Bus forwards a message four times and then dead-letters it: no consumer receives any message, and every hop costs money. Each round starts the delivery count of a dead letter again.",
    remediationSteps: "Forward to a queue that has a consumer and forwards nothing.",
    codes: ["RD743"],
  },
  servicebusForwardingDelivery: {
    description: "Messages that Service Bus forwards arrive.",
    severity: "critical",
    tags: ["servicebus", "forwarding", "data loss"],
    framework: testedChanges,
    why: "Service Bus makes no fifth hop. The message dies in the middle of the chain, in an unwatched dead-letter queue, and that dead letter is not forwarded. Service Bus forwards nothing between entities with sessions. Azure reports that half-way through a deployment, in an error that does not name the reason.",
    remediationSteps:
      "Forward directly to the last queue of the chain. Name it by the other resource's output, so that it is created first. Use no sessions on entities that forward.",
    codes: ["RD742", "RD744", "RD745"],
  },
  servicebusExpiredMessagesKept: {
    description: "Service Bus dead-letters expired messages.",
    severity: "critical",
    tags: ["servicebus", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "By default Service Bus deletes an expired message. If a consumer is down for one night, the orders of that night are gone without a trace. A queue that receives forwarded dead letters loses them in the same way, before a person has seen them.",
    remediationSteps: "Set deadLetteringOnMessageExpiration to true, or give the entity no defaultMessageTimeToLive.",
    codes: ["RD746", "RD748"],
  },
  servicebusDelayByExpiry: {
    description: "Service Bus delays retries by scheduled messages.",
    severity: "medium",
    tags: ["servicebus", "retries", "delays"],
    framework: limitedRetries,
    why: "Retry queues with a time to live come from RabbitMQ. Service Bus promises no time at which a message expires. A forwarded message keeps its time to live, which runs again in the work queue. An order that waits there behind others expires before its first attempt.",
    remediationSteps:
      "Let the consumer schedule a copy for the time of the next attempt, and complete the message after that.",
    codes: ["RD749"],
  },
  servicebusDeliveryCount: {
    description: "Service Bus delivers a message more than once before it dies.",
    severity: "medium",
    tags: ["servicebus", "retries"],
    framework: limitedRetries,
    why: "A delivery also counts when its lock runs out. With a max delivery count of 1 every restart of a consumer sends the messages that it holds to the dead-letter queue, tried or not.",
    remediationSteps:
      "Raise maxDeliveryCount to the number of consumer crashes that a message has to survive, 3 for example.",
    codes: ["RD446", "RD753"],
  },
  servicebusDurations: {
    description: "Durations of Service Bus are within its bounds, and do not confuse months with minutes.",
    severity: "high",
    tags: ["servicebus", "locks", "deployment"],
    framework: testedChanges,
    why: "Durations are plain text, and neither TypeScript nor Pulumi checks them. P5M is five months and not five minutes. As a lock it stops a deployment half-way. As a time to live it keeps messages for months that ought to die in minutes.",
    remediationSteps:
      "Write PT before minutes and seconds. A lock is from PT5S to PT5M long; for a longer handler let the SDK renew it.",
    codes: ["RD740", "RD741"],
  },
  servicebusDuplicateWindow: {
    description: "Duplicate detection of Service Bus outlasts a lock.",
    severity: "medium",
    tags: ["servicebus", "duplicates", "locks"],
    framework: idempotence,
    why: "A consumer sends a message, and crashes before it completes its own. Its own comes back when the lock ends, and the consumer sends again. If the window has ended by then, the second message counts as new, and the customer is charged twice.",
    remediationSteps:
      "Set duplicateDetectionHistoryTimeWindow to longer than lockDuration, such as PT10M. A longer window costs a little throughput.",
    codes: ["RD750"],
  },
  servicebusDefaultRule: {
    description: "The rules of a Service Bus subscription select its messages.",
    severity: "high",
    tags: ["servicebus", "subscriptions", "filters"],
    framework: testedChanges,
    why: "Azure makes a rule named $Default with every subscription, and it accepts everything. One match is enough, so the filters beside it do nothing: the consumer of placed orders handles the cancelled ones as well.",
    remediationSteps: "Give $Default the filter 1=0 with the resource DefaultRule, or delete it.",
    codes: ["RD751"],
  },
  servicebusTier: {
    description: "The tier of a Service Bus namespace has every feature that the namespace uses.",
    severity: "high",
    tags: ["servicebus", "deployment"],
    framework: testedChanges,
    why: "The basic tier has queues and nothing else: no topics, no sessions, no duplicate detection, no forwarding. A preview does not know that, so the deployment stops half-way: it has made the queues, but not the topics that feed them.",
    remediationSteps: "Set the sku of the namespace to Standard, which costs by the hour and by the operation.",
    codes: ["RD752"],
  },
});
