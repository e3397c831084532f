import type { DeployedPart } from "../brokers/broker.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { Deployed } from "./deployed.ts";

/** A queue that stays on the broker after a change, though nothing declares it any more. */
export interface LeftBehind {
  readonly kind: string;
  readonly name: string;
  /** Why it is there, as a sentence without its end. */
  readonly why: string;
  /** What has to happen before it may be deleted. */
  readonly until: string;
}

/**
 * What a change leaves on the broker: queues that may hold messages, each with all that leads into it and out of it.
 * Where the system or the broker is another one, that is everything that was there.
 */
export function leftBehind(from: Deployed, to: Deployed): readonly LeftBehind[] {
  const stays = new Set(to.parts.map(({ kind, name }) => `${kind} ${name}`));
  return from.parts
    .filter(({ kind, name, holds }) => holds !== null && !stays.has(`${kind} ${name}`))
    .map((part) => ({ kind: part.kind, name: part.name, ...reasonOf(part) }));
}

/** Why something is there that nothing declares, and what has to happen before it may be deleted. */
export function reasonOf({ kind, holds, longestWaitMs }: Pick<DeployedPart, "kind" | "holds" | "longestWaitMs">): {
  readonly why: string;
  readonly until: string;
} {
  switch (holds) {
    case "work":
      if (kind === "binding")
        return { why: "the queue behind it is no longer declared", until: "nobody wants messages to gather there" };
      return {
        why: "its consumer is no longer declared, and its sources still publish into it",
        until: "its consumer, or another one, has handled what is in it",
      };
    case "dead":
      return {
        why: "its consumer is no longer declared",
        until: "somebody has looked after the dead letters in it",
      };
    case null:
      return kind === "binding"
        ? {
            why: "nothing declares it: a routing key or an attempt that there was before",
            until: "no message is on its way by it, in a queue that waits",
          }
        : { why: "nothing that is declared uses it", until: "no queue drains into it and nobody publishes to it" };
    case "waiting":
      return {
        why: "no attempt waits in it any more",
        until:
          longestWaitMs === null
            ? "it is empty"
            : `what waits in it is due, ${formatDurationMs(longestWaitMs)} after the last message came in`,
      };
    default:
      return holds satisfies never;
  }
}
