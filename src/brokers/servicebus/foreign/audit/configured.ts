import type { ServicebusFinding } from "./sentences.ts";
import { servicebusLimits } from "../../compile/capabilities.ts";
import type { AuditedEntity } from "../deployment.ts";

/** Finds the faults that an entity's settings show by themselves. */
export function configuredBadly(entity: AuditedEntity): readonly ServicebusFinding[] {
  return [
    ...calendarDurations(entity),
    ...lockProblems(entity),
    ...deliveryProblems(entity),
    ...expiryProblems(entity),
    ...duplicateProblems(entity),
    ...ruleProblems(entity),
  ];
}

/** Finds durations in months: P5M is five months, and its author meant PT5M. */
function calendarDurations(entity: AuditedEntity): ServicebusFinding[] {
  const { name: subject, lock, timeToLive, autoDelete, duplicateWindow } = entity;
  const durations = { lock, timeToLive, autoDelete, duplicateWindow };
  return Object.entries(durations).flatMap(([property, duration]): ServicebusFinding[] => {
    if (duration === null || !duration.isCalendar) return [];
    const { text, durationMs } = duration;
    const facts = { property: property as keyof typeof durations, text, durationMs: durationMs ?? 0 };
    return [{ code: "RD740", subject, facts }];
  });
}

function lockProblems({ name, lock }: AuditedEntity): ServicebusFinding[] {
  const { leastLockMs, lockMs } = servicebusLimits;
  if (lock === null || lock.isCalendar) return [];
  const { durationMs } = lock;
  if (durationMs !== null && durationMs >= leastLockMs && durationMs <= lockMs) return [];
  return [{ code: "RD741", subject: name, facts: { text: lock.text } }];
}

function deliveryProblems({ name, maxDeliveryCount, forwardTo }: AuditedEntity): ServicebusFinding[] {
  if (maxDeliveryCount === null || maxDeliveryCount > 1) return [];
  if (maxDeliveryCount < 1) return [{ code: "RD753", subject: name, facts: { maxDeliveryCount } }];
  // An entity that forwards has no receiver.
  return forwardTo === "" ? [{ code: "RD446", subject: name }] : [];
}

function expiryProblems(entity: AuditedEntity): ServicebusFinding[] {
  const { name: subject, timeToLive, deadLetterOnExpiration, forwardTo, forwardDeadLetteredTo: to } = entity;
  if (timeToLive === null || timeToLive.durationMs === null || forwardTo !== "") return [];
  const facts = { timeToLive: timeToLive.text };
  if (deadLetterOnExpiration === false) return [{ code: "RD748", subject, facts }];
  if (deadLetterOnExpiration !== true || to === null || to === "") return [];
  return [{ code: "RD749", subject, facts, evidence: { to } }];
}

/**
 * Finds a window of duplicate detection that is shorter than the lock. A consumer that crashes sends its copy again
 * only after the lock expires.
 */
function duplicateProblems(entity: AuditedEntity): ServicebusFinding[] {
  const { name, requiresDuplicateDetection, duplicateWindow, lock } = entity;
  // `calendarDurations` already reports a duration in months.
  if (duplicateWindow?.isCalendar === true || lock?.isCalendar === true) return [];
  const windowMs = duplicateWindow?.durationMs ?? null;
  const lockMs = lock?.durationMs ?? null;
  if (requiresDuplicateDetection !== true || windowMs === null || lockMs === null || windowMs >= lockMs) return [];
  return [{ code: "RD750", subject: name, facts: { window: duplicateWindow?.text, lock: lock?.text } }];
}

/**
 * Finds `$Default` beside other rules. Azure makes this rule, and it lets in every message, regardless of the others.
 */
function ruleProblems({ name, rules }: AuditedEntity): ServicebusFinding[] {
  const others = rules.filter((rule) => rule.name !== "$Default");
  const all = rules.find((rule) => rule.name === "$Default");
  if (all?.letsInAll !== true || others.length === 0) return [];
  return [{ code: "RD751", subject: name, facts: { others: others.map((rule) => rule.name) } }];
}
