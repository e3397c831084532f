import type { EffectiveSettings, MessageState, Semantics } from "../../prove/semantics.ts";
import type { QueueFinding } from "./sentences.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * Finds queues and exchanges with dead letters that the broker itself deletes: places where dead letters lie, or
 * exchanges on their way.
 */
export function goingAway(
  semantics: Semantics,
  surroundings: Surroundings,
  settings: EffectiveSettings,
): QueueFinding[] {
  return [...queueGoes(semantics, surroundings, settings), ...exchangeGoes(surroundings, settings)];
}

/** A work queue may go away on purpose: it lives as long as its consumer. */
function queueGoes(semantics: Semantics, { shapeOf }: Surroundings, { queue }: EffectiveSettings): QueueFinding[] {
  const shape = shapeOf(queue);
  if (shape !== "dead" && shape !== "wait") return [];
  const [inQueue] = semantics.publish({ exchange: "", routingKey: queue }).flat();
  if (inQueue === undefined) return [];
  const atRestart = isLost(semantics, inQueue, "broker-restart");
  const withLastConsumer = isLost(semantics, inQueue, "last-consumer-gone");
  if (!atRestart && !withLastConsumer) return [];
  return [{ code: "RD433", subject: queue, facts: { shape }, evidence: { atRestart, withLastConsumer } }];
}

function isLost(semantics: Semantics, state: MessageState, kind: "broker-restart" | "last-consumer-gone"): boolean {
  return semantics
    .step(state, { kind })
    .flat()
    .some(({ place }) => place.kind === "lost");
}

function exchangeGoes({ exchanges }: Surroundings, settings: EffectiveSettings): QueueFinding[] {
  const { queue, deadLetterExchange, goesWith } = settings;
  // A queue that goes away as well has nothing left to dead-letter.
  if (deadLetterExchange === null || goesWith.length > 0) return [];
  const ends = exchanges.get(deadLetterExchange)?.goesWith ?? [];
  if (ends.length === 0) return [];
  return [{ code: "RD434", subject: queue, facts: { exchange: deadLetterExchange, ends } }];
}
