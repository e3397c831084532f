import { widened } from "./timers.ts";

/**
 * The copies of messages that are somewhere in the system, each in a slot of flat arrays. The slot of one that came to its end
 * is used again, so that the size follows from how many exist at a time and not from how many there ever were.
 */
export interface Copies {
  /** How many slots were ever used, and the first of those that are free again, −1 for none. */
  used: number;
  free: number;
  live: number;
  /** Per slot: the consumer's number, the message's number among that consumer's, its node in the consumer's graph (−1: free). */
  consumers: Int32Array;
  messages: Int32Array;
  nodes: Int32Array;
  publishedAtUs: Float64Array;
  deliveries: Int32Array;
  /** The how manieth delivery of its consumer the last one was: what comes back together keeps its order. */
  deliveredAs: Float64Array;
  /** How often a handler has begun with it. */
  runs: Int32Array;
  /** How many random numbers of the message's row were used. */
  draws: Int32Array;
  /** The outcome of every handling of a poison message, as the number of a cause; 255 for any other message. */
  fates: Uint8Array;
  /** The instance that holds it, −1 for none, and where in that instance's list. */
  instances: Int32Array;
  positions: Int32Array;
  /** When the handler began with it; −1 where it has not. */
  beganAtUs: Float64Array;
  /** The outcome that its handling will have. */
  outcomes: Uint8Array;
  /** The number of the timer that counts for it; −1 for none. */
  timers: Float64Array;
  /** The way that its wait will end. */
  alternatives: Int32Array;
  /** The next copy in the same line, or the next free slot. */
  next: Int32Array;
}

export const noFate = 255;

export function createCopies(): Copies {
  const capacity = 1_024;
  const whole = (): Int32Array => new Int32Array(capacity);
  return {
    used: 0,
    free: -1,
    live: 0,
    consumers: whole(),
    messages: whole(),
    nodes: whole(),
    publishedAtUs: new Float64Array(capacity),
    deliveries: whole(),
    deliveredAs: new Float64Array(capacity),
    runs: whole(),
    draws: whole(),
    fates: new Uint8Array(capacity),
    instances: whole(),
    positions: whole(),
    beganAtUs: new Float64Array(capacity),
    outcomes: new Uint8Array(capacity),
    timers: new Float64Array(capacity),
    alternatives: whole(),
    next: whole(),
  };
}

/** Takes a slot for a copy of a message that was just published. */
export function addCopy(copies: Copies, consumer: number, message: number, publishedAtUs: number): number {
  let slot = copies.free;
  if (slot === -1) {
    slot = copies.used++;
    if (slot === copies.nodes.length) grow(copies);
  } else copies.free = copies.next[slot] as number;
  copies.live++;
  copies.consumers[slot] = consumer;
  copies.messages[slot] = message;
  copies.nodes[slot] = -1;
  copies.publishedAtUs[slot] = publishedAtUs;
  copies.deliveries[slot] = 0;
  copies.runs[slot] = 0;
  copies.draws[slot] = 0;
  copies.fates[slot] = noFate;
  copies.instances[slot] = -1;
  copies.beganAtUs[slot] = -1;
  copies.timers[slot] = -1;
  copies.next[slot] = -1;
  return slot;
}

/** Takes a slot for a further copy of the same message, which has the same behind it. */
export function addTwin(copies: Copies, of: number): number {
  const slot = addCopy(
    copies,
    copies.consumers[of] as number,
    copies.messages[of] as number,
    copies.publishedAtUs[of] as number,
  );
  copies.deliveries[slot] = copies.deliveries[of] as number;
  copies.runs[slot] = copies.runs[of] as number;
  copies.fates[slot] = copies.fates[of] as number;
  // Far enough ahead in the row that the two do not meet the same luck.
  copies.draws[slot] = (copies.draws[of] as number) + 0x100_0000;
  return slot;
}

/** Gives a slot back. */
export function removeCopy(copies: Copies, slot: number): void {
  copies.live--;
  copies.nodes[slot] = -1;
  copies.timers[slot] = -1;
  copies.next[slot] = copies.free;
  copies.free = slot;
}

function grow(copies: Copies): void {
  const capacity = copies.nodes.length * 2;
  const whole = (numbers: Int32Array): Int32Array => widened(numbers, new Int32Array(capacity));
  const double = (numbers: Float64Array): Float64Array => widened(numbers, new Float64Array(capacity));
  const byte = (numbers: Uint8Array): Uint8Array => widened(numbers, new Uint8Array(capacity));
  copies.consumers = whole(copies.consumers);
  copies.messages = whole(copies.messages);
  copies.nodes = whole(copies.nodes);
  copies.publishedAtUs = double(copies.publishedAtUs);
  copies.deliveries = whole(copies.deliveries);
  copies.deliveredAs = double(copies.deliveredAs);
  copies.runs = whole(copies.runs);
  copies.draws = whole(copies.draws);
  copies.fates = byte(copies.fates);
  copies.instances = whole(copies.instances);
  copies.positions = whole(copies.positions);
  copies.beganAtUs = double(copies.beganAtUs);
  copies.outcomes = byte(copies.outcomes);
  copies.timers = double(copies.timers);
  copies.alternatives = whole(copies.alternatives);
  copies.next = whole(copies.next);
}
