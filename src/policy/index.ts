export { queueDeletion } from "./changes/queue-deletion.ts";
export { deadLetterAlarm } from "./declaration/dead-letter-alarm.ts";
export { deadLetterRetention } from "./declaration/dead-letter-retention.ts";
export { deadLetterTimeLimit } from "./declaration/dead-letter-time-limit.ts";
export { declarationReadable } from "./declaration/declaration-readable.ts";
export { firstRetryDelay } from "./declaration/first-retry-delay.ts";
export { permanentErrorsListed } from "./declaration/permanent-errors-listed.ts";
export { promisesKeptByBroker } from "./declaration/promises-kept-by-broker.ts";
export { retryAttemptsLimit } from "./declaration/retry-attempts-limit.ts";
export { retryJitter } from "./declaration/retry-jitter.ts";
export { topologyOwner } from "./declaration/topology-owner.ts";
export { rabbitmqDeadLetterCycle } from "./rabbitmq/dead-letter-cycle.ts";
export { rabbitmqDeadLetterDelivery } from "./rabbitmq/dead-letter-delivery.ts";
export { rabbitmqDeadLetterExchange } from "./rabbitmq/dead-letter-exchange.ts";
export { rabbitmqDeadLetterTarget } from "./rabbitmq/dead-letter-target.ts";
export { rabbitmqDeadLettersKept } from "./rabbitmq/dead-letters-kept.ts";
export { rabbitmqEffectiveSettings } from "./rabbitmq/effective-settings.ts";
export { rabbitmqPolicyOverlap } from "./rabbitmq/policy-overlap.ts";
export { rabbitmqRetryIsolation } from "./rabbitmq/retry-isolation.ts";
export { rabbitmqRetryLimit } from "./rabbitmq/retry-limit.ts";
export { rabbitmqWaitingQueueExpiry } from "./rabbitmq/waiting-queue-expiry.ts";
export { queueProtection } from "./resources/queue-protection.ts";
export { servicebusDefaultRule } from "./servicebus/default-rule.ts";
export { servicebusDelayByExpiry } from "./servicebus/delay-by-expiry.ts";
export { servicebusDeliveryCount } from "./servicebus/delivery-count.ts";
export { servicebusDuplicateWindow } from "./servicebus/duplicate-window.ts";
export { servicebusDurations } from "./servicebus/durations.ts";
export { servicebusExpiredMessagesKept } from "./servicebus/expired-messages-kept.ts";
export { servicebusForwardingDelivery } from "./servicebus/forwarding-delivery.ts";
export { servicebusForwardingRing } from "./servicebus/forwarding-ring.ts";
export { servicebusTier } from "./servicebus/tier.ts";
export { snsSubscriptionDeadLetterQueue } from "./sqs/sns-subscription-dead-letter-queue.ts";
export { snsSubscriptionDelivery } from "./sqs/sns-subscription-delivery.ts";
export { sqsDeadLetterQueue } from "./sqs/sqs-dead-letter-queue.ts";
export { sqsDeadLetterRetention } from "./sqs/sqs-dead-letter-retention.ts";
export { sqsDeadLetterTarget } from "./sqs/sqs-dead-letter-target.ts";
export { sqsEncryption } from "./sqs/sqs-encryption.ts";
export { sqsLambdaBatch } from "./sqs/sqs-lambda-batch.ts";
export { sqsOpenPolicy } from "./sqs/sqs-open-policy.ts";
export { sqsReceiveCount } from "./sqs/sqs-receive-count.ts";
export { sqsRedriveAllow } from "./sqs/sqs-redrive-allow.ts";
export { sqsRedriveCycle } from "./sqs/sqs-redrive-cycle.ts";
export { sqsRetentionCoversRetries } from "./sqs/sqs-retention-covers-retries.ts";
export { sqsVisibilityTimeout } from "./sqs/sqs-visibility-timeout.ts";
export { topologyReadable } from "./topology-readable.ts";
export type { ResourceChange } from "./change.ts";
export type { Component, RetriedConsumer } from "./component.ts";
export type { Level, PolicyOptions, RuleOptions } from "./options.ts";
export { redeliverPolicies } from "./policies.ts";
export type {
  AskedResource,
  ChangeRule,
  DeclarationRule,
  ResourceRule,
  Rule,
  Severity,
  TopologyRule,
  Violation,
} from "./rule.ts";
export { rules } from "./rules.ts";
export type { Waiver } from "./settings.ts";
