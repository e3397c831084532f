import rhea, { type Connection, type Receiver, type Sender } from "rhea";

import type { Refusal } from "./settlement.ts";

/** The part of a link that rhea's types leave out. */
interface Internals {
  readonly local: { readonly attach: { max_message_size?: unknown; properties?: unknown } };
  readonly state: { local_open: boolean; open_requests: number };
  readonly delivery_count: number;
  readonly credit: number;
  /** Writes due frames. rhea does this by itself after input, but not for actions in a later turn. */
  readonly connection: { readonly _register: () => void };
}

export function internalsOf(link: Sender | Receiver): Internals {
  return link as unknown as Internals;
}

/** Answers an attach with its own request, which rhea leaves out. */
export function echo(link: Sender | Receiver, maxMessageBytes?: number): void {
  // A client that only sends names no source of its own, and one that only receives no target.
  if ((link.source as unknown) !== null) link.set_source(link.source);
  if ((link.target as unknown) !== null) link.set_target(link.target);
  if (maxMessageBytes !== undefined) internalsOf(link).local.attach.max_message_size = maxMessageBytes;
}

/** Answers the attach with a detach. */
export function refuse(link: Sender | Receiver, { condition, description }: Refusal): void {
  link.close({ condition, description });
}

/**
 * Lets a client wait for the answer to its attach, as Service Bus does while it has no session to give. By itself, rhea
 * would answer in this turn of the event loop. So its note about the attach must be removed.
 *
 * @returns a function that answers
 */
export function holdAttach(link: Sender | Receiver): () => void {
  const { state } = internalsOf(link);
  state.local_open = false;
  state.open_requests = 0;
  return () => {
    link.open();
  };
}

/**
 * Sends dispositions, one in each turn of the event loop. Otherwise rhea would write the settlements of neighbouring
 * deliveries as one frame, with the outcome of the first. `write_dispositions` in its lib/session.js does not compare
 * the second with it.
 */
export class OnePerTurn {
  readonly #waiting: (() => void)[] = [];
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  add(settle: () => void): void {
    this.#waiting.push(settle);
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    if (this.#connection.is_open()) this.#waiting[0]?.();
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

type Outcome = (fields?: object) => { described: () => unknown };

const outcomes = rhea.message as unknown as Readonly<
  Record<"accepted" | "rejected" | "modified" | "released", Outcome>
>;

/** The outcomes of AMQP in the form of frames. */
export function accepted(): unknown {
  return outcomes.accepted().described();
}

/** @param refusal the reason of a failure; none if the client has rejected the message itself */
export function rejected(refusal?: Refusal): unknown {
  return outcomes.rejected(refusal === undefined ? {} : { error: refusal }).described();
}

export function modified(): unknown {
  return outcomes.modified({}).described();
}

export function released(): unknown {
  return outcomes.released().described();
}
