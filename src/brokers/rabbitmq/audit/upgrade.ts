import type { Cause, Model } from "../../../explore/model.ts";
import type { Exploration, Node } from "../../../explore/explore.ts";
import type { EffectiveSettings, MessageState } from "../semantics.ts";

/** What becomes of a message of a queue when its consumer always does the same, in words. */
export interface Profile {
  readonly queue: string;
  readonly fates: Readonly<Record<string, string>>;
}

const behaviours: readonly { readonly name: string; readonly cause: Cause }[] = [
  { name: "always rejected without requeue", cause: "transient" },
  { name: "always given back with basic.nack and requeue", cause: "return" },
  { name: "whose consumer always goes away with it", cause: "crash" },
];

/** What happens in the long run under each simple behaviour of the consumer. */
export function profileOf(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  settings: EffectiveSettings,
): Profile {
  const fates = behaviours.map(({ name, cause }) => [name, fateOf(model, exploration, settings, cause)]);
  return { queue: model.consumer, fates: Object.fromEntries(fates) as Record<string, string> };
}

function fateOf(
  model: Model<MessageState>,
  { nodes, starts }: Exploration<MessageState>,
  { deliveryLimit }: EffectiveSettings,
  behaviour: Cause,
): string {
  const seen = new Set<number>();
  let isWaiting = false;
  let node = nodes.get(starts[0]?.nodes[0] ?? -1);
  while (node !== undefined && !seen.has(node.index)) {
    seen.add(node.index);
    const { place } = node.state;
    const times =
      deliveryLimit !== null && behaviour !== "transient"
        ? `after ${deliveryLimit === 0 ? "1 delivery" : `${deliveryLimit + 1} deliveries`} it is `
        : "it is ";
    if (place.kind === "lost") return `${times}deleted`;
    if (place.kind === "queue" && place.status === "retained") return `${times}kept inside of ${place.queue} for ever`;
    const { situation } = node;
    if (situation.kind === "dead" || situation.kind === "astray")
      return `${times}dead-lettered to ${model.placeOf(node.state)}`;
    const wanted: Cause = situation.kind === "work" ? "delivery" : situation.kind === "handling" ? behaviour : "time";
    const edge = node.edges.find(({ cause }) => cause === wanted);
    if (edge === undefined) return `it stays in ${model.placeOf(node.state)}`;
    isWaiting ||= edge.waitedMs > 0;
    const next: Node<MessageState> | undefined = nodes.get(edge.to[0] ?? -1);
    node = next;
  }
  return isWaiting ? "it comes back for ever, with delays" : "it comes back at once, for ever";
}
