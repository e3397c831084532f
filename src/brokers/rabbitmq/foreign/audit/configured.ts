import type { BrokerTopology, EffectiveSettings, SemanticsVersion } from "../../prove/semantics.ts";
import { dropsHead, versionRules } from "../../prove/semantics.ts";
import { limitFindings } from "./delivery-limits.ts";
import { purposeOf } from "../../../../foreign/purpose.ts";
import type { QueueFinding } from "./sentences.ts";
import type { QueueShape, Surroundings } from "./surroundings.ts";

/** Finds the faults that a queue's settings show by themselves, without following a message. */
export function configuredBadly(
  queue: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  policies: BrokerTopology["policies"],
  surroundings: Surroundings,
  version: SemanticsVersion,
): QueueFinding[] {
  const shape = surroundings.shapeOf(queue.queue);
  if (shape === "stream") return [];
  return [
    ...missingExchange(queue, surroundings),
    ...deletedDeadLetters(queue, shape, version),
    ...deletedInTheEnd(queue, shape),
    ...limitFindings({ settings: queue, given, policies, shape, version }),
    ...expiringQueue(queue, shape),
    ...waitingBadly(queue, shape, surroundings),
    ...withoutEffect(queue, given, version),
  ];
}

function missingExchange(
  { queue, deadLetterExchange, deadLetterStrategy }: EffectiveSettings,
  { exchanges }: Surroundings,
): QueueFinding[] {
  if (deadLetterExchange === null || deadLetterExchange === "" || exchanges.has(deadLetterExchange)) return [];
  const isKept = deadLetterStrategy === "at-least-once";
  return [{ code: "RD411", subject: queue, facts: { exchange: deadLetterExchange }, evidence: { isKept } }];
}

/**
 * Without a dead-letter exchange, dead messages are gone. Four kinds of queues lose nothing by it. In a dead queue, a
 * person deletes the messages. A queue that deletes itself keeps nothing for long. The senders of copies have the
 * originals. The tools of a framework retry by themselves.
 */
function deletedDeadLetters(settings: EffectiveSettings, shape: QueueShape, version: SemanticsVersion): QueueFinding[] {
  const { queue, deadLetterExchange, expiresMs, goesWith } = settings;
  if (shape !== "work" || deadLetterExchange !== null || expiresMs !== null || goesWith.length > 0) return [];
  if (["copies", "tools"].includes(purposeOf(queue) ?? "")) return [];
  return [
    {
      code: "RD420",
      subject: queue,
      facts: {},
      evidence: {},
      detail: {
        countsFailures: versionRules[version].limitCounts === "failures",
        limit: settings.deliveryLimit,
        ttlMs: settings.messageTtlMs,
        dropsHead: dropsHead(settings),
      },
    },
  ];
}

/** A dead queue that empties itself. That may be the wanted retention, or a default that its owner overlooked. */
function deletedInTheEnd(settings: EffectiveSettings, shape: QueueShape): QueueFinding[] {
  const { queue, deadLetterExchange, messageTtlMs } = settings;
  if (shape !== "dead" || deadLetterExchange !== null) return [];
  const detail = { ttlMs: messageTtlMs, dropsHead: dropsHead(settings) };
  if (detail.ttlMs === null && !detail.dropsHead) return [];
  return [{ code: "RD431", subject: queue, facts: {}, evidence: {}, detail }];
}

/**
 * Source: `rabbit_amqqueue_process` (a declaration renews a classic queue), `rabbit_fifo:is_expired/2` (a quorum queue
 * considers only its consumers).
 */
function expiringQueue(settings: EffectiveSettings, shape: QueueShape): QueueFinding[] {
  const { queue, kind, expiresMs, messageTtlMs } = settings;
  if (expiresMs === null || (shape !== "wait" && shape !== "dead")) return [];
  if (kind === "classic" && messageTtlMs !== null && messageTtlMs < expiresMs)
    return [{ code: "RD426", subject: queue, facts: { expiresMs }, evidence: { ttlMs: messageTtlMs } }];
  return [{ code: "RD419", subject: queue, facts: { expiresMs }, evidence: { isQuorum: kind === "quorum" } }];
}

/** Finds settings that make messages leave a wait queue too early or too late. */
function waitingBadly(settings: EffectiveSettings, shape: QueueShape, { isFedByDeaths }: Surroundings): QueueFinding[] {
  const { queue, maxLength, maxLengthBytes, messageTtlMs } = settings;
  if (shape !== "wait") return [];
  const found: QueueFinding[] = [];
  if (dropsHead(settings)) found.push({ code: "RD438", subject: queue, facts: { maxLength, maxLengthBytes } });
  if (messageTtlMs === null)
    found.push({ code: "RD439", subject: queue, facts: {}, evidence: { isFedByDeaths: isFedByDeaths(queue) } });
  return found;
}

const retryKeys = /^(x-)?(dead-letter-|message-ttl|expires|max-length|overflow|delivery-limit|delayed-retry-)/;

/**
 * Finds arguments without effect. `policy-findings.ts` does the same for policies, because one policy is for many
 * queues.
 */
function withoutEffect(
  { queue, kind, ignored, deliveryLimit }: EffectiveSettings,
  given: BrokerTopology["queues"][number],
  version: SemanticsVersion,
): QueueFinding[] {
  return ignored.flatMap(({ key, from, why }): QueueFinding[] => {
    if (from !== "argument" || why === "overridden" || !retryKeys.test(key)) return [];
    if (key === "x-dead-letter-strategy" && why === "needs-another-setting") return [{ code: "RD418", subject: queue }];
    const limit = key === "x-delivery-limit" && kind === "quorum" ? (deliveryLimit ?? "none") : null;
    return [
      {
        code: "RD423",
        subject: queue,
        facts: { argument: key },
        evidence: { value: given.arguments[key], why, version, limit },
      },
    ];
  });
}
