import { limitedRetries, testedChanges, watchedQueues } from "../../policy/frameworks.ts";
import { topologyRules } from "../../policy/rule.ts";

/** The rules of the policy pack for RabbitMQ, in the order of pages and reports. */
export const rules = topologyRules("rabbitmq", {
  rabbitmqDeadLetterTarget: {
    description: "Dead letters of a RabbitMQ queue arrive in a queue.",
    severity: "critical",
    tags: ["rabbitmq", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "RabbitMQ does not check whether a dead-letter exchange exists or has a binding. With a typing error in a routing key it deletes every dead message, without an error or a line in the log.",
    remediationSteps:
      "Declare the dead-letter exchange, and bind a dead queue to it with the keys of the dead letters. If another stack makes them, add a waiver.",
    codes: ["RD411", "RD412", "RD429", "RD434", "RD437"],
  },
  rabbitmqDeadLetterCycle: {
    description: "RabbitMQ drops no message in a cycle of dead-letter exchanges.",
    severity: "critical",
    tags: ["rabbitmq", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "A work queue and a wait queue that dead-letter to each other look like a retry. The delivery limit moves a message whose consumer crashes too often into the wait queue. When it comes back, the broker treats it as a cycle and drops it: exactly the messages that matter.",
    remediationSteps:
      "Route by the reason of death, with a headers exchange on x-last-death-reason: rejected messages wait, all others go to a dead queue. Redeliver compiles such a topology from a declaration.",
    codes: ["RD413"],
  },
  rabbitmqRetryLimit: {
    description: "The broker ends every retry on RabbitMQ.",
    severity: "high",
    tags: ["rabbitmq", "retries"],
    framework: limitedRetries,
    why: "A message that crashes its consumer comes back at once and crashes the next one. Without a limit of the broker, one malformed message stops a whole fleet of consumers.",
    remediationSteps:
      "Let the broker count: a quorum queue with a delivery limit and a dead-letter exchange. If only the consumer counts, add a waiver that explains how.",
    codes: ["RD414", "RD415", "RD416"],
  },
  rabbitmqDeadLetterExchange: {
    description: "A RabbitMQ queue has a place for its dead letters.",
    severity: "high",
    tags: ["rabbitmq", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "From RabbitMQ 4.0 every quorum queue gives a message up after 20 returns. Without a dead-letter exchange it deletes the message.",
    remediationSteps:
      "Name a dead-letter exchange in the arguments of the queue or in a policy. You can exclude a queue of unimportant messages by its name.",
    codes: ["RD420"],
  },
  rabbitmqDeadLettersKept: {
    description: "A RabbitMQ dead queue deletes no messages, and stays.",
    severity: "high",
    tags: ["rabbitmq", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "A dead queue with a length limit keeps the newest dead letters. In a large outage it has lost the first ones, which show the cause, before a person looks.",
    remediationSteps:
      "Remove the time to live or the length limit of the dead queue, and watch its length instead. From 4.0 set x-delivery-limit to -1 when you make the queue, so that viewing dead letters never deletes one.",
    codes: ["RD421", "RD431", "RD433"],
  },
  rabbitmqDeadLetterDelivery: {
    description:
      "A RabbitMQ quorum queue dead-letters at least once if you ask for it, and dead letters cannot block each other.",
    severity: "medium",
    tags: ["rabbitmq", "dead letters", "data loss"],
    framework: watchedQueues,
    why: "At-least-once dead-lettering that lacks one of its conditions silently becomes at-most-once. When the dead queue's node restarts, messages that die in that moment are lost.",
    remediationSteps:
      "Set x-overflow to reject-publish beside x-dead-letter-strategy: at-least-once, and leave one queue of a circle without a length limit.",
    codes: ["RD418", "RD432", "RD436"],
  },
  rabbitmqWaitingQueueExpiry: {
    description: "A RabbitMQ queue of waiting messages stays, and forwards each message at its time.",
    severity: "critical",
    tags: ["rabbitmq", "data loss"],
    framework: watchedQueues,
    why: "A wait queue or a dead queue has no consumer. With x-expires the broker treats it as unused and deletes it, with every message in it.",
    remediationSteps:
      "Remove x-expires and length limits from queues without a consumer, and give each its own time to live.",
    codes: ["RD419", "RD426", "RD438", "RD439"],
  },
  rabbitmqEffectiveSettings: {
    description: "Every setting of a RabbitMQ queue has an effect, and the broker accepts it.",
    severity: "high",
    tags: ["rabbitmq", "configuration"],
    framework: testedChanges,
    why: "The provider sends `arguments` as texts, and RabbitMQ ignores a delivery limit that is a text. The program says 5, the queue has no limit, and a poisoned message goes round for ever.",
    remediationSteps:
      'Write numeric arguments in argumentsJson, or set them by a policy: the broker checks its values. A delivery limit below 0 means "none" only from 4.0.',
    codes: ["RD423", "RD430", "RD435"],
  },
  rabbitmqPolicyOverlap: {
    description: "RabbitMQ policies do not override each other.",
    severity: "high",
    tags: ["rabbitmq", "configuration"],
    framework: testedChanges,
    why: "Of all policies that match a queue only the one with the highest priority applies. A new policy for a length limit can silently remove the dead-letter exchange that another policy gave to all queues.",
    remediationSteps: "Put all settings of a queue into one policy, with an anchored pattern such as ^orders$.",
    codes: ["RD422"],
  },
  rabbitmqRetryIsolation: {
    description: "A retry on RabbitMQ reaches only the consumer that failed.",
    severity: "high",
    tags: ["rabbitmq", "retries"],
    framework: limitedRetries,
    why: "A wait queue that returns messages to their source exchange delivers them to every consumer again. A failed invoice is retried, and its parcel is sent a second time.",
    remediationSteps:
      "Let the wait queue dead-letter to the default exchange, with the name of the consumer's queue as its routing key.",
    codes: ["RD424"],
  },
});
