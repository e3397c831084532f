import { type Exploration, type Node, type Step, stepsTo } from "../../../../explore/explore.ts";
import { enterLoop } from "../../../../explore/loops.ts";
import type { Model } from "../../../../explore/model.ts";
import { describeState } from "../../prove/describe-state.ts";
import type { MessageState, Semantics } from "../../prove/semantics.ts";
import { patternOf } from "../../prove/unknown-message.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * One step as a finding keeps it: the cause of the move in words, and the parts of the new state that a sentence names.
 */
type Stop = ReturnType<typeof stopOf>;

/** The shortest way to a fault, and the exchanges on it with guessed routing. */
export type Way = ReturnType<typeof wayTo>;

/** The way of a message into a loop, and one round of the loop. */
export type Loop = ReturnType<typeof loopOf>;

/** The model of an audited queue, with all states that its messages reach. */
export interface Explored {
  readonly model: Model<MessageState>;
  readonly exploration: Exploration<MessageState>;
  readonly semantics: Semantics;
  readonly surroundings: Surroundings;
}

/** Begins the round where the message first meets the loop. */
export function loopOf({ exploration, surroundings }: Explored, loop: readonly Step<MessageState>[]) {
  const { entered, round } = enterLoop(exploration, loop);
  const guessed = guessedOn(surroundings, [...entered, ...loop]);
  return { entered: stopsOf(entered), round: stopsOf(round), guessed };
}

export function wayTo({ exploration, surroundings }: Explored, node: Node<MessageState>) {
  const steps = stepsTo(exploration, node);
  return { stops: stopsOf(steps), guessed: guessedOn(surroundings, steps) };
}

function guessedOn({ guessed }: Surroundings, steps: readonly Step<MessageState>[]): readonly string[] {
  return [...new Set(steps.map(({ node }) => node.state.exchange).filter((name) => guessed.has(name)))];
}

/** A note for each exchange with guessed routing: a way through it is a guess. */
export function guessedText(guessed: readonly string[]): string[] {
  return guessed.map((name) => `the routing of the exchange ${name} is unknown, so this is a guess`);
}

export function wayText({ stops }: Way): string[] {
  return stops.map((stop, index) => `${index + 1}. ${stopText(stop)}`);
}

export function loopText({ entered, round, guessed }: Loop): string[] {
  const way = wayText({ stops: [...entered, ...round], guessed });
  return [...way, `and so on from step ${entered.length + 1}`, ...guessedText(guessed)];
}

/** Leaves out redeliveries that change only a count. The step that exceeds the limit says that there were enough. */
function stopsOf(way: readonly Step<MessageState>[]): readonly Stop[] {
  const told = way.filter(({ node }, index) => {
    const [before, after] = [way[index - 1]?.node, way[index + 1]?.node];
    const isRedelivery = isIn(before, node, "delivered", "ready") && isIn(node, after, "ready", "delivered");
    const isAgain =
      isIn(way[index - 2]?.node, before, "delivered", "ready") && isIn(before, node, "ready", "delivered");
    return !isRedelivery && !isAgain;
  });
  return told.map(stopOf);
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

function stopOf({ cause, label, node }: Step<MessageState>) {
  const { place, lastDeath, deaths, routingKeys } = node.state;
  const reason =
    place.kind === "queue" ? (lastDeath ?? deaths[0])?.reason : place.kind === "lost" ? place.reason : null;
  // The sentence about another place names neither the key nor a death.
  const isNamed = place.kind === "queue" && place.status !== "delivered";
  const [key = ""] = routingKeys;
  return {
    cause,
    label,
    place: "waitingFor" in place ? { ...place, waitingFor: [] } : place,
    key: isNamed ? key : null,
    isPattern: isNamed && patternOf(key) !== null,
    lastDeath: isNamed ? lastDeath : null,
    isOverLimit: reason === "delivery_limit" && (cause === "crash" || cause === "return"),
  };
}

function stopText({ label, place, key, lastDeath, isOverLimit }: Stop): string {
  const told = isOverLimit ? `${label}, more often than the delivery limit allows` : label;
  if (place.kind === "queue" && place.status === "delivered") return `${told} to a consumer of ${place.queue}`;
  return `${told}: ${describeState({ place, routingKeys: key === null ? [] : [key], lastDeath })}`;
}
