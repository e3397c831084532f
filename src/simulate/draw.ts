/**
 * Random numbers by lookup: Philox2x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3" (2011). In an ordinary generator with a state, the numbers of a message depend on all messages before it. Here
 * each message has a row of numbers of its own. So it has the same fate in every run with the same seed, for any
 * strategy or number of instances. Two runs then differ by their settings, not by luck.
 *
 * @param key of a whole run, or of one consumer in it
 * @param message the row
 * @param position the position in the row
 * @returns 32 random bits, as a whole number from 0 to 4294967295
 */
export function drawBits(key: number, message: number, position: number): number {
  let left = message | 0;
  let right = position | 0;
  let round = key | 0;
  for (let index = 0; index < 10; index++) {
    // The product of two 32-bit numbers, in halves that a double holds exactly.
    const low = left & 0xffff;
    const high = left >>> 16;
    const middle = high * 0xd193 + ((low * 0xd193) >>> 16);
    const upper = high * 0xd256 + (middle >>> 16) + ((low * 0xd256 + (middle & 0xffff)) >>> 16);
    const product = Math.imul(left, 0xd256d193);
    left = upper ^ round ^ right;
    right = product;
    round = (round + 0x9e3779b9) | 0;
  }
  return left >>> 0;
}

/** A random number from 0 up to, but not including, 1. */
export function draw(key: number, message: number, position: number): number {
  return drawBits(key, message, position) / 0x1_0000_0000;
}
