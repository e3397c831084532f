import "../node/required.ts";
import { brokers } from "../brokers/index.ts";
import { declarationRules } from "./declaration-rules.ts";
import { stackRules } from "./stack-rules.ts";

export const {
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
} = declarationRules;
export const { topologyReadable, queueDeletion, queueProtection } = stackRules;
export const {
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
} = brokers.rabbitmq.rules;
export const {
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
} = brokers.sqs.rules;
export const {
  servicebusForwardingRing,
  servicebusForwardingDelivery,
  servicebusExpiredMessagesKept,
  servicebusDelayByExpiry,
  servicebusDeliveryCount,
  servicebusDurations,
  servicebusDuplicateWindow,
  servicebusDefaultRule,
  servicebusTier,
} = brokers.servicebus.rules;

export type { ChangeRule, ResourceChange } from "./change.ts";
export type { Component, RetriedConsumer } from "./component.ts";
export type { DeclarationRule } from "./declaration-rules.ts";
export type { Level, PolicyOptions, RuleOptions } from "./options.ts";
export { redeliverPolicies } from "./pulumi.ts";
export type { AskedResource, ResourceRule, Severity, TopologyRule, Violation } from "./rule.ts";
export { type Rule, rules } from "./rules.ts";
export type { Waiver } from "./settings.ts";
