import type { Exploration, Node } from "../../../explore/explore.ts";
import { describeState } from "../describe-state.ts";
import type { MessageState } from "../semantics.ts";
import type { Surroundings } from "./surroundings.ts";

/** One step of a message, and where it leads. */
export interface Step {
  readonly label: string;
  readonly node: Node<MessageState>;
}

/** How a message comes into a loop, and one round of it, told from where it first meets it. */
export function loopText(
  exploration: Exploration<MessageState>,
  loop: readonly Step[],
  surroundings: Surroundings,
): string[] {
  // States are numbered nearest first.
  const nearest = Math.min(...loop.map(({ node }) => node.index));
  const start = loop.findIndex(({ node }) => node.index === nearest);
  const fromThere = [...loop.slice(start), ...loop.slice(0, start)];
  const [first] = fromThere;
  if (first === undefined) return [];
  const entered = wayTo(exploration, first.node);
  const round = stepsText([...fromThere.slice(1), first], entered.length + 1);
  const guesses = guessesIn(surroundings, [
    ...stepsTo(exploration, first.node).map(({ node }) => node),
    ...loop.map(({ node }) => node),
  ]);
  return [...entered, ...round, `and so on from step ${entered.length + 1}`, ...guesses];
}

/** Says of a way through exchanges whose type is only guessed that it is less certain. */
export function guessesOn(
  surroundings: Surroundings,
  exploration: Exploration<MessageState>,
  node: Node<MessageState>,
): string[] {
  return guessesIn(
    surroundings,
    stepsTo(exploration, node).map((step) => step.node),
  );
}

function guessesIn({ guessed }: Surroundings, nodes: readonly Node<MessageState>[]): string[] {
  const names = new Set(nodes.map(({ state }) => state.exchange).filter((name) => guessed.has(name)));
  return [...names].map((name) => `how the exchange ${name} routes is not told, and guessed, so this may be wrong`);
}

/** The shortest way to a node, step by step. */
export function wayTo(exploration: Exploration<MessageState>, node: Node<MessageState>): string[] {
  return stepsText(stepsTo(exploration, node), 1);
}

function stepsTo(exploration: Exploration<MessageState>, node: Node<MessageState>): Step[] {
  const way: Step[] = [];
  for (
    let at: Node<MessageState> | undefined = node;
    at !== undefined;
    at = exploration.nodes.get(at.reachedBy?.from ?? -1)
  ) {
    way.unshift({ label: at.reachedBy?.label ?? "published", node: at });
  }
  return way;
}

/** Redeliveries that change nothing but a count are left out: the step that exceeds the limit says that there were enough. */
function stepsText(way: readonly Step[], firstNumber: number): string[] {
  const told = way.filter(({ node }, index) => {
    const [before, after] = [way[index - 1]?.node, way[index + 1]?.node];
    const isRedelivery = isIn(before, node, "delivered", "ready") && isIn(node, after, "ready", "delivered");
    const isAgain =
      isIn(way[index - 2]?.node, before, "delivered", "ready") && isIn(before, node, "ready", "delivered");
    return !isRedelivery && !isAgain;
  });
  return told.map((step, index) => `${index + firstNumber}. ${stepText(step)}`);
}

function isIn(
  from: Node<MessageState> | undefined,
  to: Node<MessageState> | undefined,
  ...[before, after]: readonly ["delivered" | "ready", "delivered" | "ready"]
): boolean {
  const [left, right] = [from?.state.place, to?.state.place];
  if (left?.kind !== "queue" || right?.kind !== "queue") return false;
  return left.queue === right.queue && left.status === before && right.status === after;
}

function stepText({ label, node }: Step): string {
  const { place, lastDeath, deaths } = node.state;
  const reason =
    place.kind === "queue" ? (lastDeath ?? deaths[0])?.reason : place.kind === "lost" ? place.reason : null;
  const isExceeded =
    reason === "delivery_limit" && (label === "its consumer goes away" || label === "given back with requeue");
  const what = isExceeded ? `${label}, more often than the delivery limit allows` : label;
  if (place.kind === "queue" && place.status === "delivered") return `${what} to a consumer of ${place.queue}`;
  return `${what}: ${describeState(node.state)}`;
}
