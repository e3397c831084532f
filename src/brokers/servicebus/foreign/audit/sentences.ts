import { formatDurationMs } from "../../../../declare/duration.ts";
import type { FindingIn } from "../../../../foreign/finding.ts";

const chaining = 'Service Bus documentation, "Chaining Service Bus entities with autoforwarding"';

const propertyNouns = {
  lock: "a lock",
  timeToLive: "a time to live",
  autoDelete: "an idle time",
  duplicateWindow: "a window",
} as const;

const deliveryHelp = "choose the number of consumer crashes that a message has to survive, 3 for example";

export const sentences = {
  RD740: ({
    property,
    text,
    durationMs,
  }: {
    readonly property: keyof typeof propertyNouns;
    readonly text: string;
    readonly durationMs: number;
  }) => ({
    predicate: `has ${propertyNouns[property]} of ${text}, which is ${formatDurationMs(durationMs)}`,
    notes: ["in ISO 8601 an M before the T is a month, and after it a minute"],
    help: `write ${text.replace(/^P/, "PT")} for minutes, or days for a longer time`,
  }),
  RD741: ({ text }: { readonly text: string }) => ({
    predicate: `has a lock of ${text}; Service Bus takes PT5S to PT5M`,
    notes: ["the SDK renews the lock of a handler that takes longer"],
    help: "write PT1M, and renew the lock for as long as the handler takes",
  }),
  RD742: ({ to, isDead }: { readonly to: string; readonly isDead: boolean }) => ({
    predicate: `${isDead ? "forwards its dead letters" : "forwards"} to ${to}, which does not exist`,
    notes: [chaining],
    help: "create it first, or correct the name",
  }),
  RD743: ({ ring, isDead }: { readonly ring: readonly (string | number)[]; readonly isDead: boolean }) => ({
    predicate: `${isDead ? "forwards its dead letters" : "forwards"} ${ringText(ring)}`,
    notes: isDead
      ? [
          "each round starts the delivery count again, so only the four hops end it, if Service Bus counts them",
          chaining,
        ]
      : [chaining],
    help: isDead ? "forward them to a queue that forwards nothing" : "forward to a queue that has a consumer",
  }),
  RD744: ({ to }: { readonly to: string }) => ({
    predicate: `requires sessions and forwards to ${to}`,
    notes: [chaining],
    help: "receive from it, or let it forward without sessions into a queue that has them",
  }),
  RD745: ({ place }: { readonly place: string }) => ({
    predicate: `forwards over more than four hops: messages die in ${place}`,
    notes: [chaining],
    help: "forward directly to the last queue of the chain",
  }),
  RD746: ({
    place,
    timeToLive,
    isKeepers,
  }: {
    readonly place: string;
    readonly timeToLive: string | null;
    readonly isKeepers: boolean;
  }) => ({
    predicate: `forwards its dead letters to ${place}, which drops messages older than ${timeToLive ?? "the time to live that they carry"}${isKeepers ? "" : ", their own time to live"}`,
    notes: ["a dead-letter queue ignores times to live; a queue that receives forwarded dead letters does not"],
    help: isKeepers
      ? `remove the time to live of ${place}, and switch on dead-lettering on expiry there`
      : `switch on dead-lettering on expiry in ${place}`,
  }),
  RD446: () => ({
    predicate: "has a max delivery count of 1: a message that loses its lock once dies, tried or not",
    notes: [
      "a delivery counts when the consumer abandons it and when its lock runs out, as in a restart of the consumer",
    ],
    help: deliveryHelp,
  }),
  RD748: ({ timeToLive }: { readonly timeToLive: string }) => ({
    predicate: `drops messages that no consumer received within ${timeToLive}`,
    notes: ["without dead-lettering on expiry Service Bus deletes an expired message without notice"],
    help: "set deadLetteringOnMessageExpiration, or no time to live",
  }),
  RD749: ({ timeToLive }: { readonly timeToLive: string }, { to }: { readonly to: string }) => ({
    predicate: `delays messages by a time to live of ${timeToLive}, without a guaranteed time`,
    notes: [
      "Service Bus promises no time at which a message expires",
      `a forwarded message keeps its time to live, and in ${to} this time starts anew`,
    ],
    help: "schedule a copy for the time of the next attempt, and complete the message",
  }),
  RD750: ({ window, lock }: { readonly window: string | undefined; readonly lock: string | undefined }) => ({
    predicate: `forgets the ids of messages after ${window}, before a lock of ${lock} has run out`,
    notes: ["after a crash the second copy comes when the lock ends, and Service Bus takes it for a new message"],
    help: "choose a window that is longer than the lock",
  }),
  RD751: ({ others }: { readonly others: readonly string[] }) => ({
    predicate: `accepts every message by its rule $Default, beside ${others.join(", ")}`,
    notes: ["one matching rule is enough"],
    help: "delete $Default, or give it a filter of 1=0",
  }),
  RD753: ({ maxDeliveryCount }: { readonly maxDeliveryCount: number }) => ({
    predicate: `has a max delivery count of ${maxDeliveryCount}; Service Bus takes 1 at least`,
    notes: ["it cannot be switched off, only raised"],
    help: deliveryHelp,
  }),
} as const;

export type ServicebusFinding = FindingIn<typeof sentences>;

/** An empty ring leads from an entity to itself. A number stands for that many entities. */
function ringText(ring: readonly (string | number)[]): string {
  if (ring.length === 0) return "to itself";
  return `in a ring: ${ring.map((each) => (typeof each === "number" ? `${each} more` : each)).join(" → ")}`;
}
