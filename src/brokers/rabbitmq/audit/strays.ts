import type { Model } from "../../../explore/model.ts";
import type { Edge, Exploration, Node } from "../../../explore/explore.ts";
import type { MessageState } from "../semantics.ts";
import { patternOf } from "../unknown-message.ts";
import type { Finding } from "../../finding.ts";
import type { Surroundings } from "./surroundings.ts";
import { guessesOn } from "./way.ts";

/** Where the copies of one dead letter go for certain. */
interface Parting {
  readonly node: Node<MessageState>;
  readonly edge: Edge;
  readonly comesBack: boolean;
  readonly others: readonly string[];
}

/** Dead letters of a queue that go to one that belongs to somebody else: besides coming back, or instead of it. */
export function straysOf(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
): Finding[] {
  const partings = [...exploration.nodes.values()].flatMap((node) =>
    node.edges.map((edge) => partingOf(model, exploration, surroundings, node, edge)),
  );
  const shared = partings.find(({ comesBack, others }) => comesBack && others.length > 0);
  if (shared !== undefined) return [sharedRetries(model, exploration, surroundings, shared)];
  // Where other messages come back from the same wait queue, it is for retries, and not for the next stage of something.
  const bringsBack = new Set(
    partings
      .filter(({ comesBack, node }) => comesBack && node.situation.kind === "waiting")
      .map(({ node }) => model.placeOf(node.state)),
  );
  const astray = partings.find(
    ({ comesBack, others, node }) =>
      !comesBack && others.length > 0 && node.situation.kind === "waiting" && bringsBack.has(model.placeOf(node.state)),
  );
  return astray === undefined ? [] : [strayRetries(model, exploration, surroundings, astray)];
}

function partingOf(
  model: Model<MessageState>,
  { nodes }: Exploration<MessageState>,
  { certainly }: Surroundings,
  node: Node<MessageState>,
  edge: Edge,
): Parting {
  // Of a message whose key is not known it is known only of some queues that it really goes there.
  const copies = edge.to
    .flatMap((index) => nodes.get(index) ?? [])
    .filter(({ state }) => {
      const unknown = state.routingKeys.find((key) => patternOf(key) !== null);
      const { place } = state;
      return unknown === undefined || (place.kind === "queue" && certainly(state.exchange, unknown).has(place.queue));
    });
  return {
    node,
    edge,
    comesBack: copies.some(({ state }) => model.placeOf(state) === model.consumer),
    others: copies.flatMap(({ situation }) => (situation.kind === "astray" ? [situation.consumer] : [])),
  };
}

const help =
  "dead-letter the wait queue to an exchange that only this queue is bound to, or with its name to the default exchange";

function sharedRetries(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
  { node, edge, others }: Parting,
): Finding {
  return {
    code: "RD424",
    queue: model.consumer,
    predicate: "shares its retries with other queues: they get the message again, though they had dealt with it",
    notes: [
      `${edge.label} in ${model.placeOf(node.state)}: a copy comes back to ${model.consumer}, and one goes to ${others.join(", ")}`,
      ...guessesOn(surroundings, exploration, node),
    ],
    help,
  };
}

function strayRetries(
  model: Model<MessageState>,
  exploration: Exploration<MessageState>,
  surroundings: Surroundings,
  { node, edge, others }: Parting,
): Finding {
  const [key = ""] = node.state.routingKeys;
  const which = patternOf(key) === null ? ` with the key ${JSON.stringify(key)}` : "";
  return {
    code: "RD424",
    queue: model.consumer,
    predicate: "has retries that go to another queue and never come back",
    notes: [
      `${edge.label} in ${model.placeOf(node.state)}: a message${which} goes to ${others.join(", ")} only, though others come back to ${model.consumer} from there`,
      ...guessesOn(surroundings, exploration, node),
    ],
    help,
  };
}
