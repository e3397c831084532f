import type { Model } from "../../../explore/model.ts";
import type { Exploration, Node } from "../../../explore/explore.ts";
import { findLoop } from "../../../explore/loops.ts";
import type { DeathReason, EffectiveSettings, MessageState } from "../semantics.ts";
import type { Finding } from "../../finding.ts";
import { straysOf } from "./strays.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Step } from "./way.ts";
import { guessesOn, loopText, wayTo } from "./way.ts";

/** What can become of the messages of one queue, found by looking at every way that one of them can take. */
export function fatesOf(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  settings: EffectiveSettings,
  surroundings: Surroundings,
): Finding[] {
  return [
    ...losses(model, exploration, surroundings),
    ...loops(exploration, settings, surroundings),
    ...straysOf(model, exploration, surroundings),
  ];
}

/** One finding for each queue in which messages are lost, and each way of losing them. */
function losses(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
): Finding[] {
  const found = new Map<string, { readonly node: Node<MessageState>; readonly reasons: Set<DeathReason> }>();
  for (const node of exploration.nodes.values()) {
    const { place } = node.state;
    const isKept = place.kind === "queue" && place.status === "retained";
    if (!isKept && place.kind !== "lost") continue;
    const { cause, queue, reason } = place;
    // Without a dead-letter exchange there is nothing to look at; see the settings.
    if (queue === null || reason === null || cause === "no-dead-letter-exchange" || cause === "missing-exchange")
      continue;
    const key = `${queue}\u0000${cause}\u0000${isKept}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { node, reasons: new Set([reason]) });
    else known.reasons.add(reason);
  }
  return [...found.values()].map(({ node, reasons }) => lossOf(model, exploration, surroundings, node, [...reasons]));
}

function lossOf(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
  node: Node<MessageState>,
  reasons: readonly DeathReason[],
): Finding {
  const { place } = node.state;
  const queue = "queue" in place ? (place.queue ?? model.consumer) : model.consumer;
  const isKept = place.kind === "queue";
  const consequence = isKept
    ? "kept inside of the queue for ever, where nobody sees it, and what dies after it waits behind it"
    : "deleted";
  const notes = [
    `a message that is ${list(reasons)} there is ${consequence}`,
    ...wayTo(exploration, node),
    ...guessesOn(surroundings, exploration, node),
  ];
  if (
    place.kind === "queue"
      ? place.status === "retained" && place.cause === "cycle"
      : "cause" in place && place.cause === "cycle"
  ) {
    return {
      code: "RD413",
      queue,
      predicate: "loses messages in a cycle of dead-lettering",
      notes: [
        ...notes,
        "the broker cuts a cycle in which no consumer rejected the message since it was last in that queue",
      ],
      help: "let what exceeded the delivery limit, or expired, go to a dead queue by its reason, and only rejected messages to the wait queue",
    };
  }
  return {
    code: "RD412",
    queue,
    predicate: "dead-letters to an exchange that has no route for it",
    notes,
    help: "bind a queue for these messages to the dead-letter exchange, or set x-dead-letter-routing-key to a key that is bound",
  };
}

const words: Readonly<Record<DeathReason, string>> = {
  rejected: "rejected",
  expired: "expired",
  maxlen: "dropped because the queue is too long",
  delivery_limit: "given back too often",
};

export function list(reasons: readonly DeathReason[]): string {
  return new Intl.ListFormat("en", { type: "disjunction" }).format(reasons.map((reason) => words[reason]));
}

/** What goes round for ever, by what keeps it going. */
function loops(
  exploration: Exploration<MessageState>,
  { queue, deliveryLimit }: EffectiveSettings,
  surroundings: Surroundings,
): Finding[] {
  // Without a limit a message that is given back comes back, which the settings tell.
  const withoutRejection = loopOf(
    exploration,
    deliveryLimit === null ? ["time", "delivery"] : ["time", "delivery", "crash"],
  );
  const byThemselves: Finding[] =
    withoutRejection === undefined
      ? []
      : [
          {
            code: "RD414",
            queue,
            predicate: "can have messages that go round for ever, though nobody rejects them any more",
            notes: loopText(exploration, withoutRejection, surroundings),
            help: "let what exceeded the delivery limit, or expired, go to a dead queue by its reason",
          },
        ];
  const rejected = loopOf(exploration, ["time", "delivery", "transient"]);
  if (rejected === undefined) return byThemselves;
  const waitedMs = rejected.reduce((sum, step) => sum + step.waitedMs, 0);
  const notes = loopText(exploration, rejected, surroundings);
  if (waitedMs === 0) {
    return [
      ...byThemselves,
      {
        code: "RD414",
        queue,
        predicate: "gets a rejected message back at once, for ever",
        notes,
        help: "dead-letter to a queue of its own: a dead queue, or a wait queue with a time to live",
      },
    ];
  }
  return [
    ...byThemselves,
    {
      code: "RD416",
      queue,
      predicate: "gets a rejected message back for ever: nothing on the broker counts its attempts",
      notes: [
        ...notes,
        "so the consumer must count them in x-death, and after the last one publish the message to a dead queue and acknowledge it",
      ],
      help: "count in the consumer, or let the attempt number travel in the routing key through one wait queue for each attempt",
    },
  ];
}

/** A cycle of moves of these causes alone, wherever it is. */
function loopOf(
  exploration: Exploration<MessageState>,
  causes: readonly string[],
): readonly (Step & { readonly waitedMs: number })[] | undefined {
  const nodes = new Map(
    [...exploration.nodes].map(([index, node]) => [
      index,
      { ...node, edges: node.edges.filter(({ cause }) => causes.includes(cause)) },
    ]),
  );
  const loop = findLoop({ ...exploration, nodes });
  return loop?.map((step, index) => {
    const before = loop.at(index - 1)?.node;
    const edge = before?.edges.find(({ label, to }) => label === step.label && to.includes(step.node.index));
    return { ...step, waitedMs: edge?.waitedMs ?? 0 };
  });
}
