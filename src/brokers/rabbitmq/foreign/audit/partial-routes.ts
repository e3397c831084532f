import type { EffectiveSettings, Semantics } from "../../prove/semantics.ts";
import { patternOf } from "../../prove/unknown-message.ts";
import { messageIn } from "./shapes.ts";
import type { QueueFinding } from "./sentences.ts";
import type { Surroundings } from "./surroundings.ts";

/** Stands for a word that no binding names. */
const anyWord = "any";

/**
 * Finds a consumer's queue that takes keys by a pattern, while its dead-letter exchange routes only some of them. RD412
 * reports an exchange without any route.
 */
export function partlyRouted(
  semantics: Semantics,
  surroundings: Surroundings,
  settings: EffectiveSettings,
): QueueFinding[] {
  const { queue, deadLetterExchange, deadLetterRoutingKey } = settings;
  if (deadLetterExchange === null || deadLetterExchange === "" || deadLetterRoutingKey !== null) return [];
  // A queue with a time to live may be a stage of a system that sorts by keys.
  if (
    settings.messageTtlMs !== null ||
    surroundings.shapeOf(queue) !== "work" ||
    surroundings.guessed.has(deadLetterExchange)
  )
    return [];
  const inQueue = messageIn(semantics, queue);
  if (inQueue === undefined) return [];
  const hasRoute = (routingKey: string): boolean => {
    const delivered = {
      ...inQueue,
      routingKeys: [routingKey],
      place: { kind: "queue", queue, status: "delivered" },
    } as const;
    return semantics
      .step(delivered, { kind: "nack", requeue: false })
      .flat()
      .every(({ place }) => !("cause" in place && place.cause === "no-route"));
  };
  for (const { routingKey } of surroundings.entriesOf(settings)) {
    const pattern = patternOf(routingKey);
    // A fanout or headers exchange does not show the keys. A literal key has a route or none.
    if (pattern === null || pattern === "#" || !hasRoute(routingKey)) continue;
    // A key that matches the pattern, and as few bindings besides as possible. `#` becomes one word. So the finding is
    // certain that a route is missing.
    const key = pattern.replaceAll(/(?<=^|\.)[*#](?=\.|$)/g, anyWord);
    if (hasRoute(key)) continue;
    const isKept = semantics.settings(queue)?.deadLetterStrategy === "at-least-once";
    return [
      {
        code: "RD429",
        subject: queue,
        facts: { pattern, exchange: deadLetterExchange },
        evidence: { key, word: anyWord, isKept },
      },
    ];
  }
  return [];
}
