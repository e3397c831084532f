import type { Exploration, Node } from "../../../explore/explore.ts";
import { nameIn } from "../deployment.ts";
import { describeState } from "../describe-state.ts";
import type { MessageState } from "../semantics.ts";

/** One step of a message, and where it leads. */
export interface Step {
  readonly label: string;
  readonly node: Node<MessageState>;
}

/** The shortest way to a node, step by step. */
export function wayTo(exploration: Exploration<MessageState>, node: Node<MessageState>): string[] {
  return stepsText(stepsTo(exploration, node), 1, nameIn);
}

/**
 * How a message comes into a loop, and one round of it, told from where it first meets it.
 *
 * @param nameOf how queues are called: the same way for all queues where all are told of at once
 */
export function loopText(
  exploration: Exploration<MessageState>,
  loop: readonly Step[],
  nameOf: (arn: string) => string = nameIn,
): string[] {
  // States are numbered nearest first.
  const nearest = Math.min(...loop.map(({ node }) => node.index));
  const start = loop.findIndex(({ node }) => node.index === nearest);
  const fromThere = [...loop.slice(start), ...loop.slice(0, start)];
  const [first] = fromThere;
  if (first === undefined) return [];
  const entered = stepsText(stepsTo(exploration, first.node), 1, nameOf);
  const round = stepsText([...fromThere.slice(1), first], entered.length + 1, nameOf);
  return [...entered, ...round, `and so on from step ${entered.length + 1}`];
}

function stepsTo({ nodes }: Exploration<MessageState>, node: Node<MessageState>): Step[] {
  const way: Step[] = [];
  for (let at: Node<MessageState> | undefined = node; at !== undefined; at = nodes.get(at.reachedBy?.from ?? -1)) {
    way.unshift({ label: at.reachedBy?.label ?? "sent", node: at });
  }
  return way;
}

/** Receives that change nothing but the count are left out: the one that has to move the message says that there were enough. */
function stepsText(way: readonly Step[], firstNumber: number, nameOf: (arn: string) => string): string[] {
  const told = way.filter((step, index) => {
    const before = way[index - 2];
    return before === undefined || textOf(before, nameOf) !== textOf(step, nameOf);
  });
  return told.map((step, index) => `${index + firstNumber}. ${textOf(step, nameOf)}`);
}

/** Without the counts, which the model cuts off; queues by their names. */
function textOf({ label, node }: Step, nameOf: (arn: string) => string): string {
  const { place } = node.state;
  const named = "queue" in place && place.queue !== null ? { ...place, queue: nameOf(place.queue) } : place;
  return `${label}: ${describeState({ ...node.state, receiveCount: 0, place: named as typeof place })}`;
}
