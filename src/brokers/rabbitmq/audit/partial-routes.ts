import type { EffectiveSettings, Semantics } from "../semantics.ts";
import { patternOf, unknownHeaders } from "../unknown-message.ts";
import type { Finding } from "../../finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Stands for a word that no binding names. */
const anyWord = "any";

/** A consumer's queue takes keys by a pattern, and its dead-letter exchange has a route for some of them. Where it has none at all, see RD412. */
export function partlyRouted(semantics: Semantics, surroundings: Surroundings, settings: EffectiveSettings): Finding[] {
  const { queue, deadLetterExchange, deadLetterRoutingKey } = settings;
  if (deadLetterExchange === null || deadLetterExchange === "" || deadLetterRoutingKey !== null) return [];
  // Where messages expire, it may be a stage of something that sorts by keys.
  if (
    settings.messageTtlMs !== null ||
    surroundings.shapeOf(queue) !== "work" ||
    surroundings.guessed.has(deadLetterExchange)
  )
    return [];
  const [inQueue] = semantics.publish({ exchange: "", routingKey: queue, headers: { [unknownHeaders]: true } }).flat();
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
    // A fanout or headers exchange tells nothing of the keys, and a key written out has a route or none.
    if (pattern === null || pattern === "#" || !hasRoute(routingKey)) continue;
    const key = keyLike(pattern);
    if (hasRoute(key)) continue;
    return [
      {
        code: "RD429",
        queue,
        predicate: `takes ${pattern}, and its dead-letter exchange ${deadLetterExchange} has a route for some of these keys only`,
        notes: [
          `a dead letter with the key ${key}, where "${anyWord}" is a word that is bound nowhere, is ${consequenceOf(semantics, queue)}`,
        ],
        help: `bind a dead queue to ${deadLetterExchange} by ${pattern}, or set x-dead-letter-routing-key to a key that is bound`,
      },
    ];
  }
  return [];
}

function consequenceOf(semantics: Semantics, queue: string): string {
  return semantics.settings(queue)?.deadLetterStrategy === "at-least-once"
    ? "kept inside of the queue for ever"
    : "deleted";
}

/** A key that the pattern matches, and as few others as can be: `#` is one word, so that only what is missing for certain is found. */
function keyLike(pattern: string): string {
  return pattern.replaceAll(/(?<=^|\.)[*#](?=\.|$)/g, anyWord);
}
