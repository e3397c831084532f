import type { BrokerTopology, EffectiveSettings, IgnoredSetting, SemanticsVersion } from "../semantics.ts";
import { versionRules } from "../semantics.ts";
import type { Finding } from "./finding.ts";
import type { QueueShape, Surroundings } from "./surroundings.ts";

/** What the settings of a queue tell by themselves, without following any message. */
export function configuredBadly(
  queue: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  surroundings: Surroundings,
  version: SemanticsVersion,
): Finding[] {
  const shape = surroundings.shapeOf(queue.queue);
  if (shape === "stream") return [];
  return [
    ...missingExchange(queue, surroundings),
    ...deletedDeadLetters(queue, shape),
    ...deletedWhenLookedAt(queue, shape, version),
    ...expiringQueue(queue, shape, version),
    ...(shape === "work" && queue.messageTtlMs === null ? limits(queue, given, version) : []),
    ...withoutEffect(queue, given, version),
  ];
}

function missingExchange(
  { queue, deadLetterExchange, deadLetterStrategy }: EffectiveSettings,
  { exchanges }: Surroundings,
): Finding[] {
  if (deadLetterExchange === null || deadLetterExchange === "" || exchanges.has(deadLetterExchange)) return [];
  const consequence =
    deadLetterStrategy === "at-least-once"
      ? "every dead letter is kept inside of the queue, where nobody sees it, until the exchange is there"
      : "every dead letter is deleted; the broker writes nothing about it into its log";
  return [
    {
      code: "RD411",
      queue,
      predicate: `dead-letters to the exchange ${deadLetterExchange}, which does not exist`,
      notes: [consequence],
      help: `declare the exchange ${deadLetterExchange} and bind a dead queue to it`,
    },
  ];
}

/** Without a dead-letter exchange whatever dies is gone. In a dead queue that is meant: there it is somebody who deletes it. */
function deletedDeadLetters(settings: EffectiveSettings, shape: QueueShape): Finding[] {
  if (shape !== "work" || settings.deadLetterExchange !== null) return [];
  const causes = [
    "rejected",
    ...(settings.deliveryLimit === null ? [] : [`given back more than ${settings.deliveryLimit} times`]),
    ...(settings.messageTtlMs === null ? [] : [`not consumed within ${settings.messageTtlMs} ms`]),
    ...(settings.overflow === "drop-head" && (settings.maxLength ?? settings.maxLengthBytes) !== null
      ? ["at the head of the queue when it is full"]
      : []),
  ];
  return [
    {
      code: "RD420",
      queue: settings.queue,
      predicate: "has no dead-letter exchange",
      notes: [`a message is deleted that is ${new Intl.ListFormat("en", { type: "disjunction" }).format(causes)}`],
      help: "name a dead-letter exchange in a policy, with a dead queue bound to it",
    },
  ];
}

/** From 4.0 on everything that is put back counts, also what somebody only looked at. */
function deletedWhenLookedAt(settings: EffectiveSettings, shape: QueueShape, version: SemanticsVersion): Finding[] {
  const { deliveryLimit, kind } = settings;
  if (shape !== "dead" || kind !== "quorum" || deliveryLimit === null) return [];
  if (versionRules[version].limitCounts !== "returns") return [];
  return [
    {
      code: "RD421",
      queue: settings.queue,
      predicate: `holds dead letters and has a delivery limit of ${deliveryLimit}`,
      notes: [
        `a dead letter that somebody looks at and puts back ${deliveryLimit === 0 ? "once" : `${deliveryLimit + 1} times`} is deleted`,
      ],
      help: "set the argument x-delivery-limit to -1 when the queue is made; it cannot be changed later",
    },
  ];
}

/** Source: `rabbit_amqqueue_process` (a declaration renews a classic queue), `rabbit_fifo:is_expired/2` (a quorum queue looks at consumers alone). */
function expiringQueue(settings: EffectiveSettings, shape: QueueShape, version: SemanticsVersion): Finding[] {
  const { queue, kind, expiresMs, messageTtlMs } = settings;
  if (expiresMs === null || (shape !== "wait" && shape !== "dead")) return [];
  const isRenewed = kind === "classic" && messageTtlMs !== null && messageTtlMs < expiresMs;
  if (isRenewed) {
    return [
      {
        code: "RD426",
        queue,
        predicate: `is deleted ${expiresMs} ms after it was last declared, with the messages that wait in it`,
        notes: [
          `a message waits for ${messageTtlMs} ms: it is safe only if the queue is declared again before each message is published to it`,
        ],
        help: "take x-expires away and keep the queue, or declare it before each publish",
      },
    ];
  }
  const why =
    kind === "quorum"
      ? "nobody consumes it, and only a consumer renews the time of a quorum queue; messages and declarations do not"
      : "nobody consumes it, and messages that come in do not renew the time";
  return [
    {
      code: "RD419",
      queue,
      predicate: `holds waiting messages and is deleted with them after ${expiresMs} ms (rules of ${version})`,
      notes: [`${why}; what is in it then is not dead-lettered but gone`],
      help: "take x-expires away: a queue that holds messages has to stay",
    },
  ];
}

function limits(
  { queue, kind, deliveryLimit, deadLetterExchange }: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  version: SemanticsVersion,
): Finding[] {
  if (kind !== "quorum") return [];
  const isStated = deliveryLimit !== versionRules[version].defaultDeliveryLimit;
  if (deliveryLimit === null) {
    // A consumer's queue that dead-letters is meant to be rid of what cannot be handled.
    if (deadLetterExchange === null || given.arguments["x-delivery-limit"] !== undefined) return [];
    return [
      {
        code: "RD415",
        queue,
        predicate: "has no delivery limit",
        notes: ["a message whose consumer goes down with it, or requeues it, comes back at once, for ever"],
        help: "set delivery-limit in a policy, and have what exceeds it dead-lettered",
      },
    ];
  }
  if (versionRules[version].limitCounts !== "failures" || !isStated) return [];
  return [
    {
      code: "RD417",
      queue,
      predicate: `has a delivery limit of ${deliveryLimit} that basic.nack with requeue never reaches`,
      notes: [
        "from 4.3 on it counts failures: a consumer that goes away, and basic.reject with requeue; a consumer that uses basic.nack with requeue gets the message back at once, for ever",
      ],
      help: "have the consumer use basic.reject with requeue for a failure, and basic.nack only to hand back what it has not tried",
    },
  ];
}

const retryKeys = /^(x-)?(dead-letter-|message-ttl|expires|max-length|overflow|delivery-limit|delayed-retry-)/;

const reasons: Readonly<Record<Exclude<IgnoredSetting["why"], "overridden">, string>> = {
  "wrong-type": "its value is of the wrong type, which the broker takes without a word",
  "unknown-to-version": "this version does not know it",
  "not-for-queue-type": "queues of this type do not know it",
  "needs-another-setting": "it needs another setting that is not there",
};

/** Arguments that are there and do nothing. Policies are looked at by themselves, since one is for many queues. */
function withoutEffect(
  { queue, kind, ignored, deliveryLimit }: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  version: SemanticsVersion,
): Finding[] {
  return ignored.flatMap(({ key, from, why }): Finding[] => {
    if (from !== "argument" || why === "overridden" || !retryKeys.test(key)) return [];
    if (key === "x-dead-letter-strategy" && why === "needs-another-setting") {
      return [
        {
          code: "RD418",
          queue,
          predicate: "asks for at-least-once dead-lettering and does not get it",
          notes: [
            "it is in force only with x-overflow reject-publish and a dead-letter exchange; a dead letter can be lost on its way",
          ],
          help: "set x-overflow to reject-publish when the queue is made, or overflow in its policy",
        },
      ];
    }
    const instead =
      key === "x-delivery-limit" && kind === "quorum"
        ? `: the limit is ${deliveryLimit === null ? "none" : deliveryLimit}`
        : "";
    return [
      {
        code: "RD423",
        queue,
        predicate: `has the argument ${key} without effect`,
        notes: [`${key} is ${JSON.stringify(given.arguments[key])}; ${reasons[why]} (rules of ${version})${instead}`],
        help: "correct the value, or take it away, when the queue is made again; a policy can be changed while messages wait",
      },
    ];
  });
}
