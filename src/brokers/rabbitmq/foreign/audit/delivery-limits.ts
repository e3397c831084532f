import type {
  Arguments,
  BrokerTopology,
  EffectiveSettings,
  HeaderValue,
  SemanticsVersion,
  VersionRules,
} from "../../prove/semantics.ts";
import { versionRules } from "../../prove/semantics.ts";
import type { LimitAdvice } from "./limit-sentences.ts";
import type { QueueFinding } from "./sentences.ts";
import type { QueueShape } from "./surroundings.ts";

interface LimitedQueue {
  readonly settings: EffectiveSettings;
  readonly given: { readonly arguments: Arguments };
  readonly policies: BrokerTopology["policies"];
  readonly shape: QueueShape;
  readonly version: SemanticsVersion;
}

type StatedLimit = ReturnType<typeof statedLimit>;

export function limitFindings(queue: LimitedQueue): QueueFinding[] {
  const { settings, shape, version } = queue;
  if (settings.kind !== "quorum") return [];
  const stated = statedLimit(queue);
  const rules = versionRules[version];
  if (shape === "dead") return deletedWhenLookedAt(settings, stated, rules);
  if (shape !== "work") return [];
  const first = firstFailure(settings, stated, rules);
  if (first.length > 0 || settings.messageTtlMs !== null) return first;
  if (settings.deliveryLimit === null)
    // A consumer's queue that dead-letters is meant to give up messages that cannot be handled.
    return settings.deadLetterExchange === null || stated.argument !== undefined
      ? []
      : [{ code: "RD415", subject: settings.queue }];
  return isStated(stated) ? uncounted(settings, rules) : [];
}

function statedLimit({ settings, given, policies }: LimitedQueue) {
  const inForce = policies.filter(
    ({ name, kind }) => name === (kind === "user" ? settings.policy : settings.operatorPolicy),
  );
  return {
    argument: given.arguments["x-delivery-limit"] ?? undefined,
    policies: inForce.flatMap((policy) => {
      const value = policy.definition["delivery-limit"] ?? undefined;
      return value === undefined ? [] : [{ policy, value }];
    }),
  };
}

/** The broker ignores a value that is no number. The audit reports such a value apart. */
function isStated({ argument, policies }: StatedLimit): boolean {
  return typeof argument === "number" || policies.some(({ value }) => typeof value === "number");
}

function isNegative(value: HeaderValue | undefined): boolean {
  return typeof value === "number" && value < 0;
}

/**
 * A message that a person only looked at and put back counts as well. Up to 4.2 it always does, and later only if it is
 * rejected or left behind.
 */
function deletedWhenLookedAt(settings: EffectiveSettings, stated: StatedLimit, rules: VersionRules): QueueFinding[] {
  const { queue, deliveryLimit } = settings;
  if (deliveryLimit === null) return [];
  return [
    {
      code: "RD421",
      subject: queue,
      facts: { limit: deliveryLimit },
      evidence: { countsReturns: rules.limitCounts === "returns", advice: adviceOf(stated, rules) },
    },
  ];
}

function adviceOf({ argument, policies }: StatedLimit, rules: VersionRules): LimitAdvice {
  return {
    takesNegativeForZero: rules.negativeDeliveryLimit === "first-return",
    hasArgument: argument !== undefined,
    isArgumentNegative: isNegative(argument),
    isPolicyNegative: policies.some(({ value }) => isNegative(value)),
    policies: policies.map(({ policy }) => policy.name),
  };
}

/** Up to 3.13 any count exceeds a negative limit. */
function firstFailure(settings: EffectiveSettings, stated: StatedLimit, rules: VersionRules): QueueFinding[] {
  if (rules.negativeDeliveryLimit !== "first-return" || settings.deliveryLimit !== 0) return [];
  if (!isNegative(stated.argument) && !stated.policies.some(({ value }) => isNegative(value))) return [];
  const isDeleted = settings.deadLetterExchange === null;
  return [{ code: "RD430", subject: settings.queue, facts: {}, evidence: { isDeleted } }];
}

function uncounted({ queue, deliveryLimit, delayedRetry }: EffectiveSettings, rules: VersionRules): QueueFinding[] {
  if (rules.limitCounts !== "failures" || deliveryLimit === null) return [];
  const isDelayed = delayedRetry !== null && delayedRetry.returns !== "failed";
  const delayMs = isDelayed ? delayedRetry.minMs : null;
  return [{ code: "RD417", subject: queue, facts: { limit: deliveryLimit }, evidence: { delayMs } }];
}
