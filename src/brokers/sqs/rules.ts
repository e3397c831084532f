import type { Entry } from "../../foreign/entries.ts";
import { isUnreadable } from "../../foreign/pulumi-resource.ts";
import { queueType } from "./foreign/import/resource-types.ts";
import {
  controlledAccess,
  encryptionAtRest,
  idempotence,
  limitedRetries,
  testedChanges,
  watchedQueues,
} from "../../policy/frameworks.ts";
import { resourceRule, topologyRules } from "../../policy/rule.ts";

/** The rules of the policy pack for SQS, in the order of pages and reports. */
export const rules = Object.freeze({
  ...topologyRules("sqs", {
    sqsDeadLetterQueue: {
      description: "Every SQS queue has a dead-letter queue.",
      severity: "high",
      tags: ["sqs", "dead letters", "data loss"],
      framework: watchedQueues,
      why: "SQS delivers a failing message again and again until it exceeds the retention period. Then SQS deletes it without notice.",
      remediationSteps:
        "Give the queue a redrivePolicy with its own dead-letter queue. The rule recognises dead-letter queues: they need none.",
      codes: ["RD415"],
    },
    sqsDeadLetterTarget: {
      description: "SQS can move messages to the named dead-letter queue.",
      severity: "critical",
      tags: ["sqs", "dead letters", "data loss"],
      framework: watchedQueues,
      why: "AWS checks a redrive policy once, and not again when the dead-letter queue is deleted or restricted. Emulators accept policies that AWS refuses, so the mistake appears in production.",
      remediationSteps:
        "Name a dead-letter queue of the same type, account and region, and let its redriveAllowPolicy list the queue.",
      codes: ["RD411", "RD442", "RD443", "RD452"],
    },
    sqsRedriveCycle: {
      description: "Dead-letter queues of SQS form no cycle.",
      severity: "high",
      tags: ["sqs", "dead letters"],
      framework: watchedQueues,
      why: "Two queues that are each other's dead-letter queues move a failing message round for as long as consumers receive. Every receive costs money.",
      remediationSteps: "Remove the redrive policy of the dead-letter queue.",
      codes: ["RD444", "RD445"],
    },
    sqsReceiveCount: {
      description: "SQS delivers a message often enough before it dies.",
      severity: "medium",
      tags: ["sqs", "retries"],
      framework: limitedRetries,
      why: "SQS counts a receive when it sends the answer. With a single receive a message can die before a handler saw it: the answer was lost, or Lambda was throttled.",
      remediationSteps: "Raise maxReceiveCount: to at least 2, and with a Lambda function to at least 5.",
      codes: ["RD446", "RD447"],
    },
    sqsDeadLetterRetention: {
      description: "SQS keeps dead letters longer than the messages of the queue they come from.",
      severity: "high",
      tags: ["sqs", "dead letters", "data loss"],
      framework: watchedQueues,
      why: "On a standard queue a dead letter keeps the time at which it was sent. With 4 days in both queues, SQS deletes a message that died on its fourth day within hours of its arrival.",
      remediationSteps:
        "Set messageRetentionSeconds of the dead-letter queue to 1209600, the 14 days that SQS keeps a message at most.",
      codes: ["RD448"],
    },
    sqsRetentionCoversRetries: {
      description: "SQS keeps a message until its retries are over.",
      severity: "critical",
      tags: ["sqs", "data loss", "retries"],
      framework: limitedRetries,
      why: "Retention deletes a message by its age and never moves it. If the receives take longer than that, SQS deletes a message before its last attempt.",
      remediationSteps:
        "Raise messageRetentionSeconds of the queue, or lower maxReceiveCount or the visibility timeout.",
      codes: ["RD449"],
    },
    sqsVisibilityTimeout: {
      description: "A message of SQS stays hidden while its handler runs.",
      severity: "high",
      tags: ["sqs", "lambda", "duplicates"],
      framework: idempotence,
      why: "A function may run for 60 seconds, but its message is hidden for 30. The function handles it twice, charges the customer twice, and uses up its receives.",
      remediationSteps:
        "Set visibilityTimeoutSeconds to 6 times the timeout of the function, with the batch window added, as AWS asks.",
      codes: ["RD450", "RD451", "RD460"],
    },
    sqsLambdaBatch: {
      description: "A Lambda function reports failed messages one by one, and no filter deletes messages.",
      severity: "medium",
      tags: ["sqs", "lambda", "data loss"],
      framework: idempotence,
      why: "One poisonous message fails its whole batch, again and again. Nine sound messages lose a receive each time, and follow it to the dead-letter queue.",
      remediationSteps:
        'Set functionResponseTypes to ["ReportBatchItemFailures"] and let the function answer with the messages that failed; filter in the subscription of the topic instead of the mapping.',
      codes: ["RD462", "RD463"],
    },
    sqsRedriveAllow: {
      description: "A redrive-allow policy of SQS restricts its source queues.",
      severity: "low",
      tags: ["sqs", "dead letters"],
      framework: watchedQueues,
      why: "A list of more than 10 source queues does not restrict anything: every queue of the account may use the dead-letter queue.",
      remediationSteps: "Give groups of consumers separate dead-letter queues.",
      codes: ["RD453"],
    },
    sqsOpenPolicy: {
      description: "Only named principals may send to an SQS queue.",
      severity: "critical",
      tags: ["sqs", "access"],
      framework: controlledAccess,
      why: 'A statement with the principal "*" and no condition lets any account of AWS fill the queue, and unsigned requests too.',
      remediationSteps: "Name the accounts or services that send, or add a condition such as aws:SourceArn.",
      codes: ["RD455"],
    },
    snsSubscriptionDeadLetterQueue: {
      description: "Every subscription of a queue to an SNS topic has a dead-letter queue.",
      severity: "high",
      tags: ["sns", "sqs", "dead letters", "data loss"],
      framework: watchedQueues,
      why: "If a changed policy or key stops SNS, it deletes the message after its own retries. The message never reaches the dead-letter queue of the queue.",
      remediationSteps: "Give the subscription a redrivePolicy with a queue that allows the topic.",
      codes: ["RD456"],
    },
    snsSubscriptionDelivery: {
      description: "Messages of an SNS topic arrive in the queue.",
      severity: "critical",
      tags: ["sns", "sqs", "data loss"],
      framework: testedChanges,
      why: "The subscription looks sound, publishers get no error, and nothing arrives: the queue's policy denies the topic, or the filter matches no message.",
      remediationSteps:
        "Let the policy of the queue allow sns.amazonaws.com for this topic, name an existing queue of a fitting type, and correct the filter.",
      codes: ["RD457", "RD458", "RD459", "RD461", "RD464"],
    },
  }),
  sqsEncryption: resourceRule({
    name: "sqs-encryption",
    description: "SQS queues encrypt their messages.",
    severity: "medium",
    tags: ["sqs", "encryption"],
    framework: encryptionAtRest,
    why: "Encryption with keys of SQS is on for new queues, costs nothing, and changes nothing for publishers and consumers. A queue without it keeps orders and dead letters in clear.",
    remediationSteps:
      "Set sqsManagedSseEnabled to true, or name a key in kmsMasterKeyId. With the level remediate the rule sets the first: no message is lost or becomes unreadable.",
    types: [queueType],
    judge({ properties }) {
      if (!isInClear(properties)) return [];
      const message = "encryption with keys of SQS is off, and there is no KMS key";
      return [{ part: null, message, help: "set sqsManagedSseEnabled to true" }];
    },
    remedy: { sqsManagedSseEnabled: true },
  }),
});

/** True only if the program switches encryption off: AWS encrypts a queue by default. */
function isInClear({ sqsManagedSseEnabled, kmsMasterKeyId }: Entry): boolean {
  const hasKey = isUnreadable(kmsMasterKeyId) || (typeof kmsMasterKeyId === "string" && kmsMasterKeyId !== "");
  return sqsManagedSseEnabled === false && !hasKey;
}
