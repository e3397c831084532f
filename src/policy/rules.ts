import { queueDeletion } from "./changes/queue-deletion.ts";
import { deadLetterAlarm } from "./declaration/dead-letter-alarm.ts";
import { deadLetterRetention } from "./declaration/dead-letter-retention.ts";
import { deadLetterTimeLimit } from "./declaration/dead-letter-time-limit.ts";
import { declarationReadable } from "./declaration/declaration-readable.ts";
import { firstRetryDelay } from "./declaration/first-retry-delay.ts";
import { permanentErrorsListed } from "./declaration/permanent-errors-listed.ts";
import { promisesKeptByBroker } from "./declaration/promises-kept-by-broker.ts";
import { retryAttemptsLimit } from "./declaration/retry-attempts-limit.ts";
import { retryJitter } from "./declaration/retry-jitter.ts";
import { topologyOwner } from "./declaration/topology-owner.ts";
import { rabbitmqDeadLetterCycle } from "./rabbitmq/dead-letter-cycle.ts";
import { rabbitmqDeadLetterDelivery } from "./rabbitmq/dead-letter-delivery.ts";
import { rabbitmqDeadLetterExchange } from "./rabbitmq/dead-letter-exchange.ts";
import { rabbitmqDeadLetterTarget } from "./rabbitmq/dead-letter-target.ts";
import { rabbitmqDeadLettersKept } from "./rabbitmq/dead-letters-kept.ts";
import { rabbitmqEffectiveSettings } from "./rabbitmq/effective-settings.ts";
import { rabbitmqPolicyOverlap } from "./rabbitmq/policy-overlap.ts";
import { rabbitmqRetryIsolation } from "./rabbitmq/retry-isolation.ts";
import { rabbitmqRetryLimit } from "./rabbitmq/retry-limit.ts";
import { rabbitmqWaitingQueueExpiry } from "./rabbitmq/waiting-queue-expiry.ts";
import { queueProtection } from "./resources/queue-protection.ts";
import { servicebusDefaultRule } from "./servicebus/default-rule.ts";
import { servicebusDelayByExpiry } from "./servicebus/delay-by-expiry.ts";
import { servicebusDeliveryCount } from "./servicebus/delivery-count.ts";
import { servicebusDuplicateWindow } from "./servicebus/duplicate-window.ts";
import { servicebusDurations } from "./servicebus/durations.ts";
import { servicebusExpiredMessagesKept } from "./servicebus/expired-messages-kept.ts";
import { servicebusForwardingDelivery } from "./servicebus/forwarding-delivery.ts";
import { servicebusForwardingRing } from "./servicebus/forwarding-ring.ts";
import { servicebusTier } from "./servicebus/tier.ts";
import { snsSubscriptionDeadLetterQueue } from "./sqs/sns-subscription-dead-letter-queue.ts";
import { snsSubscriptionDelivery } from "./sqs/sns-subscription-delivery.ts";
import { sqsDeadLetterQueue } from "./sqs/sqs-dead-letter-queue.ts";
import { sqsDeadLetterRetention } from "./sqs/sqs-dead-letter-retention.ts";
import { sqsDeadLetterTarget } from "./sqs/sqs-dead-letter-target.ts";
import { sqsEncryption } from "./sqs/sqs-encryption.ts";
import { sqsLambdaBatch } from "./sqs/sqs-lambda-batch.ts";
import { sqsOpenPolicy } from "./sqs/sqs-open-policy.ts";
import { sqsReceiveCount } from "./sqs/sqs-receive-count.ts";
import { sqsRedriveAllow } from "./sqs/sqs-redrive-allow.ts";
import { sqsRedriveCycle } from "./sqs/sqs-redrive-cycle.ts";
import { sqsRetentionCoversRetries } from "./sqs/sqs-retention-covers-retries.ts";
import { sqsVisibilityTimeout } from "./sqs/sqs-visibility-timeout.ts";
import { topologyReadable } from "./topology-readable.ts";
import type { Rule } from "./rule.ts";

/** Every rule there is, in the order in which pages and reports name them. */
export const rules: readonly Rule[] = Object.freeze([
  declarationReadable,
  retryAttemptsLimit,
  firstRetryDelay,
  retryJitter,
  deadLetterTimeLimit,
  deadLetterRetention,
  deadLetterAlarm,
  permanentErrorsListed,
  promisesKeptByBroker,
  topologyOwner,
  topologyReadable,
  queueDeletion,
  queueProtection,
  rabbitmqDeadLetterTarget,
  rabbitmqDeadLetterCycle,
  rabbitmqRetryLimit,
  rabbitmqDeadLetterExchange,
  rabbitmqDeadLettersKept,
  rabbitmqDeadLetterDelivery,
  rabbitmqWaitingQueueExpiry,
  rabbitmqEffectiveSettings,
  rabbitmqPolicyOverlap,
  rabbitmqRetryIsolation,
  sqsDeadLetterQueue,
  sqsDeadLetterTarget,
  sqsRedriveCycle,
  sqsReceiveCount,
  sqsDeadLetterRetention,
  sqsRetentionCoversRetries,
  sqsVisibilityTimeout,
  sqsLambdaBatch,
  sqsRedriveAllow,
  sqsOpenPolicy,
  snsSubscriptionDeadLetterQueue,
  snsSubscriptionDelivery,
  sqsEncryption,
  servicebusForwardingRing,
  servicebusForwardingDelivery,
  servicebusExpiredMessagesKept,
  servicebusDelayByExpiry,
  servicebusDeliveryCount,
  servicebusDurations,
  servicebusDuplicateWindow,
  servicebusDefaultRule,
  servicebusTier,
]);
