import type { MessageState } from "./semantics.ts";

/** A message, and what is known of it beside the broker: who has it, and how long it waits. */
export interface HeldMessage {
  readonly message: MessageState;
  /** `runs` while somebody handles it, `gone` when its lock is held by nobody any more; null where there is no lock. */
  readonly handler: "runs" | "gone" | null;
  /** How long a scheduled copy waits. */
  readonly wait: { readonly fromMs: number; readonly toMs: number } | null;
}

export function held(message: MessageState): HeldMessage {
  return { message, handler: null, wait: null };
}

/** Where a copy is, for a trace. */
export function describeHeld({ message, handler, wait }: HeldMessage): string {
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
      return `${which}: lost at ${place.entity}: ${place.cause}`;
    case "refused":
      return `${which}: refused by ${place.entity}: ${place.error}`;
    default:
      return place satisfies never;
  }
}
