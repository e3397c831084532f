import { formatDurationMs } from "../../../declare/duration.ts";
import type { Finding } from "../../finding.ts";
import { servicebusLimits } from "../capabilities.ts";
import type { AuditedEntity } from "../deployment.ts";

/** What is wrong with an entity by itself. */
export function configuredBadly(entity: AuditedEntity): readonly Finding[] {
  return [
    ...calendarDurations(entity),
    ...lockProblems(entity),
    ...deliveryProblems(entity),
    ...expiryProblems(entity),
    ...duplicateProblems(entity),
    ...ruleProblems(entity),
  ];
}

/** P5M is five months, and PT5M was meant. */
function calendarDurations({ name, lock, timeToLive, autoDelete, duplicateWindow }: AuditedEntity): Finding[] {
  const durations = {
    "a lock": lock,
    "a time to live": timeToLive,
    "an idle time": autoDelete,
    "a window": duplicateWindow,
  };
  return Object.entries(durations).flatMap(([what, duration]): Finding[] => {
    if (duration === null || !duration.isCalendar) return [];
    return [
      {
        code: "RD740",
        queue: name,
        predicate: `has ${what} of ${duration.text}, which is ${formatDurationMs(duration.durationMs ?? 0)}`,
        notes: ["before the T of ISO 8601 an M is a month, and behind it a minute"],
        help: `write ${duration.text.replace(/^P/, "PT")} for minutes, or days for a longer time`,
      },
    ];
  });
}

function lockProblems({ name, lock }: AuditedEntity): Finding[] {
  const { leastLockMs, lockMs } = servicebusLimits;
  if (lock === null || lock.isCalendar) return [];
  const { durationMs } = lock;
  if (durationMs !== null && durationMs >= leastLockMs && durationMs <= lockMs) return [];
  return [
    {
      code: "RD741",
      queue: name,
      predicate: `has a lock of ${lock.text}; Service Bus takes PT5S to PT5M`,
      notes: ["a handler that takes longer has its lock renewed by the SDK"],
      help: "write PT1M, and renew the lock for as long as the handler takes",
    },
  ];
}

function deliveryProblems({ name, maxDeliveryCount, forwardTo }: AuditedEntity): Finding[] {
  const notes = ["a delivery counts when it is abandoned and when its lock runs out, as in a restart of its consumer"];
  const help = "choose as many deliveries as crashes of a consumer are to be survived, 3 for example";
  if (maxDeliveryCount === null || maxDeliveryCount > 1) return [];
  if (maxDeliveryCount < 1) {
    const predicate = `has a max delivery count of ${maxDeliveryCount}; Service Bus takes 1 at least`;
    return [{ code: "RD753", queue: name, predicate, notes: ["it cannot be switched off, only set high"], help }];
  }
  // Nobody receives from an entity that forwards.
  if (forwardTo !== "") return [];
  const predicate = "has a max delivery count of 1: a message whose lock is lost once is dead, tried or not";
  return [{ code: "RD747", queue: name, predicate, notes, help }];
}

function expiryProblems({
  name,
  timeToLive,
  deadLetterOnExpiration,
  forwardTo,
  forwardDeadLetteredTo,
}: AuditedEntity): Finding[] {
  if (timeToLive === null || timeToLive.durationMs === null || forwardTo !== "") return [];
  if (deadLetterOnExpiration === false) {
    return [
      {
        code: "RD748",
        queue: name,
        predicate: `drops what nobody received within ${timeToLive.text}`,
        notes: ["without dead-lettering on expiry a message whose time is over is deleted, and nothing tells of it"],
        help: "set deadLetteringOnMessageExpiration, or no time to live",
      },
    ];
  }
  if (deadLetterOnExpiration !== true || forwardDeadLetteredTo === null || forwardDeadLetteredTo === "") return [];
  return [
    {
      code: "RD749",
      queue: name,
      predicate: `delays messages by a time to live of ${timeToLive.text}, which no time is promised for`,
      notes: [
        "Service Bus expires messages when it comes to it",
        `a forwarded message carries its time to live: in ${forwardDeadLetteredTo} it runs again`,
      ],
      help: "schedule a copy for the time of the next attempt, and complete the message",
    },
  ];
}

/** A copy that is sent again after a crash comes when the lock has run out. */
function duplicateProblems({ name, requiresDuplicateDetection, duplicateWindow, lock }: AuditedEntity): Finding[] {
  // What is wrong by months is said as that.
  if (duplicateWindow?.isCalendar === true || lock?.isCalendar === true) return [];
  const windowMs = duplicateWindow?.durationMs ?? null;
  const lockMs = lock?.durationMs ?? null;
  if (requiresDuplicateDetection !== true || windowMs === null || lockMs === null || windowMs >= lockMs) return [];
  return [
    {
      code: "RD750",
      queue: name,
      predicate: `forgets the ids of messages after ${duplicateWindow?.text}, before a lock of ${lock?.text} has run out`,
      notes: ["what a crashed consumer sends once more comes after that, and is taken for new"],
      help: "choose a window that is longer than the lock",
    },
  ];
}

/** The rule that Azure makes lets in everything, whatever the others say. */
function ruleProblems({ name, rules }: AuditedEntity): Finding[] {
  const others = rules.filter((rule) => rule.name !== "$Default");
  const all = rules.find((rule) => rule.name === "$Default");
  if (all?.letsInAll !== true || others.length === 0) return [];
  return [
    {
      code: "RD751",
      queue: name,
      predicate: `lets in every message by its rule $Default, beside ${others.map((rule) => rule.name).join(", ")}`,
      notes: ["one rule that lets a message in is enough"],
      help: "delete $Default, or give it a filter of 1=0",
    },
  ];
}
