import type { Edge, Exploration, Node } from "../../../../explore/explore.ts";
import type { MessageState } from "../../prove/semantics.ts";
import { patternOf } from "../../prove/unknown-message.ts";
import type { QueueFinding } from "./sentences.ts";
import { type Explored, wayTo } from "./way.ts";

/** The certain destinations of the copies of one dead letter. */
type Parting = ReturnType<typeof partingOf>;

/** Finds dead letters of a queue that go to another consumer's queue: besides coming back, or instead. */
export function straysOf(all: Explored): QueueFinding[] {
  const { model } = all;
  const explored = { ...all, exploration: ownPart(all) };
  const partings = [...explored.exploration.nodes.values()].flatMap((node) =>
    node.edges.map((edge) => partingOf(explored, node, edge)),
  );
  const shared = partings.find(({ comesBack, others }) => comesBack && others.length > 0);
  if (shared !== undefined) return [strayRetries(explored, shared)];
  // If other messages come back from the same wait queue, it is for retries. Otherwise it may be the next stage of a
  // pipeline.
  const bringsBack = new Set(
    partings
      .filter(({ comesBack, node }) => comesBack && node.situation.kind === "waiting")
      .map(({ node }) => model.placeOf(node.state)),
  );
  const astray = partings.find(
    ({ comesBack, others, node }) =>
      !comesBack && others.length > 0 && node.situation.kind === "waiting" && bringsBack.has(model.placeOf(node.state)),
  );
  return astray === undefined ? [] : [strayRetries(explored, astray)];
}

/** The part until another consumer gets the message. That consumer's behaviour belongs to its own queue. */
function ownPart(explored: Explored): Exploration<MessageState> {
  const { nodes: all, starts } = explored.exploration;
  const open = starts.flatMap((start) => start.nodes);
  const nodes = new Map<number, Node<MessageState>>();
  for (const index of open) {
    const node = all.get(index);
    if (node === undefined || nodes.has(index)) continue;
    const edges = isOthers(explored, node) ? [] : node.edges;
    nodes.set(index, { ...node, edges });
    open.push(...edges.flatMap(({ to }) => to));
  }
  return { nodes, starts };
}

function isOthers({ model, surroundings }: Explored, { state }: Node<MessageState>): boolean {
  const queue = model.placeOf(state);
  return queue !== null && queue !== model.consumer && surroundings.shapeOf(queue) === "work";
}

function partingOf(explored: Explored, node: Node<MessageState>, edge: Edge) {
  const { model, exploration, surroundings } = explored;
  // If the key is unknown, only some queues certainly get the message.
  const copies = edge.to
    .flatMap((index) => exploration.nodes.get(index) ?? [])
    .filter(({ state }) => {
      const unknown = state.routingKeys.find((key) => patternOf(key) !== null);
      const { place } = state;
      return (
        unknown === undefined ||
        (place.kind === "queue" && surroundings.certainly(state.exchange, unknown).has(place.queue))
      );
    });
  return {
    node,
    edge,
    comesBack: copies.some(({ state }) => model.placeOf(state) === model.consumer),
    others: copies.filter((copy) => isOthers(explored, copy)).flatMap(({ state }) => model.placeOf(state) ?? []),
  };
}

function strayRetries(explored: Explored, { node, edge, others, comesBack }: Parting): QueueFinding {
  const { model } = explored;
  const [key = ""] = node.state.routingKeys;
  return {
    code: "RD424",
    subject: model.consumer,
    facts: { comesBack },
    evidence: {
      label: edge.label,
      at: model.placeOf(node.state),
      others,
      key: comesBack || patternOf(key) !== null ? null : key,
      consumer: model.consumer,
      guessed: wayTo(explored, node).guessed,
    },
  };
}
