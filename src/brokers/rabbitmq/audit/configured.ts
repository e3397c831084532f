import type { BrokerTopology, EffectiveSettings, IgnoredSetting, SemanticsVersion } from "../semantics.ts";
import { versionRules } from "../semantics.ts";
import { limitFindings } from "./delivery-limits.ts";
import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { QueueShape, Surroundings } from "./surroundings.ts";

/** What the settings of a queue tell by themselves, without following any message. */
export function configuredBadly(
  queue: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  policies: BrokerTopology["policies"],
  surroundings: Surroundings,
  version: SemanticsVersion,
): Finding[] {
  const shape = surroundings.shapeOf(queue.queue);
  if (shape === "stream") return [];
  return [
    ...missingExchange(queue, surroundings),
    ...deletedDeadLetters(queue, shape, version),
    ...deletedInTheEnd(queue, shape),
    ...limitFindings({ settings: queue, given, policies, shape, version }),
    ...expiringQueue(queue, shape),
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
      predicate: `dead-letters to the exchange ${nameText(deadLetterExchange)}, which does not exist`,
      notes: [consequence],
      help: `declare the exchange ${nameText(deadLetterExchange)} and bind a dead queue to it`,
    },
  ];
}

/**
 * Without a dead-letter exchange whatever dies is gone. In a dead queue that is meant: there it is somebody who deletes it. A queue that
 * expires by itself holds nothing that is to stay.
 */
function deletedDeadLetters(settings: EffectiveSettings, shape: QueueShape, version: SemanticsVersion): Finding[] {
  if (shape !== "work" || settings.deadLetterExchange !== null || settings.expiresMs !== null) return [];
  const what =
    versionRules[version].limitCounts === "failures"
      ? "left behind by its consumer, or rejected with requeue,"
      : "given back";
  const causes = [
    "rejected",
    ...(settings.deliveryLimit === null ? [] : [`${what} more than ${timesText(settings.deliveryLimit)}`]),
    ...(settings.messageTtlMs === null ? [] : [`not consumed within ${settings.messageTtlMs} ms`]),
    ...(dropsHead(settings) ? ["at the head of the queue when it is full"] : []),
  ];
  return [
    {
      code: "RD420",
      queue: settings.queue,
      predicate: "has no dead-letter exchange",
      notes: [],
      detail: `a message is deleted that is ${new Intl.ListFormat("en", { type: "disjunction" }).format(causes)}`,
      help: "name a dead-letter exchange in a policy, with a dead queue bound to it",
    },
  ];
}

function timesText(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function dropsHead({ overflow, maxLength, maxLengthBytes }: EffectiveSettings): boolean {
  return overflow === "drop-head" && (maxLength ?? maxLengthBytes) !== null;
}

/** A dead queue that empties itself: perhaps the retention that is wanted, and perhaps a default that nobody thought of. */
function deletedInTheEnd(settings: EffectiveSettings, shape: QueueShape): Finding[] {
  const { queue, deadLetterExchange, messageTtlMs } = settings;
  if (shape !== "dead" || deadLetterExchange !== null) return [];
  const causes = [
    ...(messageTtlMs === null ? [] : [`after ${messageTtlMs} ms`]),
    ...(dropsHead(settings) ? ["when the queue is full, the oldest first"] : []),
  ];
  if (causes.length === 0) return [];
  return [
    {
      code: "RD431",
      queue,
      predicate: "holds dead letters and deletes them by itself",
      notes: ["that is right if this is the retention that you want, and somebody looks at them before"],
      detail: `a dead letter is deleted ${causes.join(", and ")}`,
      help: "if dead letters have to stay until somebody deals with them, take the time to live and the length limit away",
    },
  ];
}

/** Source: `rabbit_amqqueue_process` (a declaration renews a classic queue), `rabbit_fifo:is_expired/2` (a quorum queue looks at consumers alone). */
function expiringQueue(settings: EffectiveSettings, shape: QueueShape): Finding[] {
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
      predicate: `holds waiting messages and is deleted with them after ${expiresMs} ms`,
      notes: [`${why}; what is in it then is not dead-lettered but gone`],
      help: "take x-expires away: a queue that holds messages has to stay",
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
        notes: [
          `${key} is ${JSON.stringify(given.arguments[key])}; ${reasons[why]} (by the rules of ${version} and later)${instead}`,
        ],
        help: "correct the value, or take it away, when the queue is made again; a policy can be changed while messages wait",
      },
    ];
  });
}
