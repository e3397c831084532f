import type { LossCause, MessageState } from "./semantics.ts";

/** The reasons for which Service Bus loses a message. */
export const lossWords: Readonly<Record<LossCause, string>> = {
  expired: "its time to live ends, and the entity does not dead-letter it",
  duplicate: "a message with the same id was sent before",
  "no-subscription": "no subscription lets it in",
  cancelled: "its sender cancels the schedule",
  "received-and-deleted": "a receiver takes it in receive-and-delete mode",
};

/**
 * A message with two facts that the broker does not hold: the state of its handler, and the wait of a scheduled copy.
 */
export interface ModelState {
  readonly message: MessageState;
  /** `runs` while a handler works on it, `gone` when its lock remains without a handler; null without a lock. */
  readonly handler: "runs" | "gone" | null;
  readonly wait: { readonly fromMs: number; readonly toMs: number } | null;
}

export function atRest(message: MessageState): ModelState {
  return { message, handler: null, wait: null };
}

export function describeState({ message, handler, wait }: ModelState): string {
  const { place, content, deliveryCount } = message;
  const which = `${content.messageId}${deliveryCount === 0 ? "" : `, ${deliveryCount} deliveries counted`}`;
  switch (place.kind) {
    case "entity": {
      const where = place.deadLetter === null ? place.entity : `${place.entity}/$DeadLetterQueue (${place.deadLetter})`;
      const whose = handler === "gone" ? " by nobody" : "";
      const time = wait === null ? "" : ` for ${wait.fromMs === wait.toMs ? "" : `${wait.fromMs} to `}${wait.toMs} ms`;
      return `${which}: ${place.status}${whose} in ${where}${time}`;
    }
    case "completed":
      return `${which}: completed in ${place.entity}`;
    case "lost":
      return `${which}: lost at ${place.entity}: ${lossWords[place.cause]}`;
    case "refused":
      return `${which}: refused by ${place.entity}: ${place.error}`;
    default:
      return place satisfies never;
  }
}
