import { type Exploration, type Node, type Step, stepsTo } from "../../../../explore/explore.ts";
import { enterLoop } from "../../../../explore/loops.ts";
import type { Cause } from "../../../../explore/model.ts";
import { nameIn } from "../deployment.ts";
import { describeState } from "../../prove/describe-state.ts";
import type { MessageState } from "../../prove/semantics.ts";

/** One step as a finding keeps it. It has the names of queues, and leaves out the counts, which the model reduces. */
interface Stop {
  readonly cause: Cause | null;
  readonly label: string;
  readonly place: MessageState["place"];
}

/** The way of a message into a loop, and one round of the loop. */
export type Loop = ReturnType<typeof loopOf>;

export function wayTo(exploration: Exploration<MessageState>, node: Node<MessageState>): readonly Stop[] {
  return stopsOf(stepsTo(exploration, node, "sent"), nameIn);
}

/**
 * Begins the round where the message first meets the loop.
 *
 * @param nameOf names the queues; a common name for all lets alike findings share one diagnostic
 */
export function loopOf(
  exploration: Exploration<MessageState>,
  loop: readonly Step<MessageState>[],
  nameOf: (arn: string) => string = nameIn,
) {
  const { entered, round } = enterLoop(exploration, loop, "sent");
  return { entered: stopsOf(entered, nameOf), round: stopsOf(round, nameOf) };
}

export function wayText(way: readonly Stop[]): string[] {
  return way.map((stop, index) => `${index + 1}. ${stopText(stop)}`);
}

export function loopText({ entered, round }: Loop): string[] {
  return [...wayText([...entered, ...round]), `and so on from step ${entered.length + 1}`];
}

/**
 * Leaves out receives that change only the count. The receive that has to move the message says that there were enough.
 */
function stopsOf(way: readonly Step<MessageState>[], nameOf: (arn: string) => string): readonly Stop[] {
  const stops = way.map(({ cause, label, node }): Stop => {
    const { place } = node.state;
    const named = "queue" in place && place.queue !== null ? { ...place, queue: nameOf(place.queue) } : place;
    return { cause, label, place: named as typeof place };
  });
  return stops.filter((stop, index) => {
    const before = stops[index - 2];
    return before === undefined || JSON.stringify(before) !== JSON.stringify(stop);
  });
}

function stopText({ label, place }: Stop): string {
  return `${label}: ${describeState({ place, receiveCount: 0 })}`;
}
