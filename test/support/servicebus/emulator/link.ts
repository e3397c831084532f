import rhea, { type Connection, type Receiver, type Sender } from "rhea";

import type { Refusal } from "./settlement.ts";

/** What of a link is not in the types of rhea. */
interface Internals {
  readonly local: { readonly attach: { max_message_size?: unknown; properties?: unknown } };
  readonly state: { local_open: boolean; open_requests: number };
  readonly delivery_count: number;
  readonly credit: number;
  /** Writes what is due. After what has come in it does that by itself, but for what is done in a later turn. */
  readonly connection: { readonly _register: () => void };
}

export function internalsOf(link: Sender | Receiver): Internals {
  return link as unknown as Internals;
}

/** Answers an attach with what it asked for, which rhea leaves out. */
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
 * Lets a client wait for the answer to its attach, as Service Bus does while there is no session to give away. rhea answers by itself in
 * this turn of the event loop, unless what it has noted is taken back.
 *
 * @returns how to answer
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
 * Dispositions, one in each turn of the event loop. rhea writes what is settled in one turn as one frame if the deliveries are
 * neighbours, and then with the outcome of the first: `write_dispositions` in its lib/session.js does not compare the second with it.
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

/** The outcomes of AMQP as frames have them. */
export function accepted(): unknown {
  return outcomes.accepted().described();
}

/** @param refusal what a failure is about; none where the client has rejected the message itself */
export function rejected(refusal?: Refusal): unknown {
  return outcomes.rejected(refusal === undefined ? {} : { error: refusal }).described();
}

export function modified(): unknown {
  return outcomes.modified({}).described();
}

export function released(): unknown {
  return outcomes.released().described();
}
