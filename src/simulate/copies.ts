import { widened } from "./timers.ts";

/**
 * The copies of messages in the system, each in a slot of flat arrays. The slot of an ended copy is used again. So the
 * size depends on the number of copies at a time, not on the number in the whole run.
 */
export type Copies = ReturnType<typeof createCopies>;

function columnsOf(capacity: number) {
  const whole = (): Int32Array => new Int32Array(capacity);
  return {
    /**
     * For each slot: the consumer's number, the message's number within the consumer, and its node in the consumer's
     * graph (−1: free).
     */
    consumers: whole(),
    messages: whole(),
    nodes: whole(),
    publishedAtUs: new Float64Array(capacity),
    deliveries: whole(),
    /** The number of handler runs that it started. */
    runs: whole(),
    /** The number of random numbers used from the message's row. */
    draws: whole(),
    /** For a poison message, the outcome of every handling as the number of a cause; 255 for any other message. */
    fates: new Uint8Array(capacity),
    /** The instance that holds it, −1 for none. */
    instances: whole(),
    /** The time that the handler began with it; −1 before that. */
    beganAtUs: new Float64Array(capacity),
    /** The future outcome of its handling. */
    outcomes: new Uint8Array(capacity),
    /** The number of its valid timer; −1 for none. */
    timers: new Float64Array(capacity),
    /** The chosen end of its wait. */
    alternatives: whole(),
    /** The next copy in the same line, or the next free slot. */
    next: whole(),
  };
}

export const noFate = 255;

export function createCopies() {
  // The number of slots ever used, and the first free slot among them, −1 for none.
  return { used: 0, free: -1, live: 0, ...columnsOf(1_024) };
}

/** Takes a slot for a copy of a newly published message. */
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

/** Takes a slot for a further copy of the same message, with the same past. */
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
  // Far enough ahead in the row, so that the two copies do not share their random numbers.
  copies.draws[slot] = (copies.draws[of] as number) + 0x100_0000;
  return slot;
}

export function removeCopy(copies: Copies, slot: number): void {
  copies.live--;
  copies.nodes[slot] = -1;
  copies.timers[slot] = -1;
  copies.next[slot] = copies.free;
  copies.free = slot;
}

function grow(copies: Copies): void {
  Object.assign(copies, widened<ReturnType<typeof columnsOf>>(copies, columnsOf(copies.nodes.length * 2)));
}
