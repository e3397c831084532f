import type { DeployedPart } from "../brokers/deployed-part.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { type Deployed, isElsewhere, partsBeside } from "./deployed.ts";

/** A queue or a subscription that stays on the broker after a change, although it is no longer declared. */
export interface LeftBehind {
  readonly kind: string;
  readonly name: string;
  /** The reason that it stays, as a sentence without its end. */
  readonly why: string;
  /** The condition for its deletion. */
  readonly until: string;
}

/**
 * Lists the queues that a change leaves on the broker because they may hold messages, and the subscriptions that still
 * forward some. Each comes with everything that leads into it and out of it. If the system, the broker or the region is another one, the list has all old queues.
 *
 * @param isOwn true for a part that this deployment may leave. Those of other stacks are not its business
 */
export function leftBehind(
  from: Deployed,
  to: Deployed,
  isOwn: (part: DeployedPart) => boolean = () => true,
): readonly LeftBehind[] {
  const isAway = isElsewhere(from, to);
  return partsBeside(from.parts, isAway ? [] : to.parts)
    .filter((part) => (part.holds !== null || part.kind === "subscription") && isOwn(part))
    .map((part) => ({
      kind: part.kind,
      name: part.name,
      ...reasonOf(part),
      ...(isAway ? { why: `the new target is ${to.compiled.target}` } : {}),
    }));
}

/** The reason that an undeclared part stays, and the condition for its deletion. */
export function reasonOf({ kind, holds, longestWaitMs }: Pick<DeployedPart, "kind" | "holds" | "longestWaitMs">): {
  readonly why: string;
  readonly until: string;
} {
  switch (holds) {
    case "work":
      if (kind === "binding")
        return { why: "the queue behind it is no longer declared", until: "no team still collects messages there" };
      return {
        why: "its consumer is no longer declared, and messages may still come into it",
        until: "its consumer, or another one, has handled its messages",
      };
    case "dead":
      return {
        why: "no declared consumer has it",
        until: "its dead letters have been handled",
      };
    case null:
      if (kind === "subscription")
        return {
          why: "no declared consumer takes messages by it, and it still forwards them",
          until: "its rules let nothing in, and it has forwarded its messages",
        };
      return kind === "binding"
        ? {
            why: "it is not declared: it belongs to an earlier routing key or attempt",
            until: "no waiting message still needs it",
          }
        : { why: "no declared consumer uses it", until: "no queue drains into it and no program publishes to it" };
    case "waiting":
      return {
        why: "no attempt waits in it",
        until:
          longestWaitMs === null
            ? "it is empty"
            : `its waiting messages are due, ${formatDurationMs(longestWaitMs)} after the last message came in`,
      };
    default:
      return holds satisfies never;
  }
}
