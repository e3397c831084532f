import { hash } from "node:crypto";

import type { Letter } from "./letter.ts";
import type { Operating } from "./port.ts";

/** The letters of a plan that a redrive may still send. It touches no others. */
export interface Frozen {
  /** Takes a letter out. False if it is not in it, or was taken as often as it is. */
  readonly take: (digest: bigint) => boolean;
  /** Takes out one of the letters that the plan could not be shown. False if none is left. */
  readonly takeBehind: () => boolean;
  readonly copy: () => Frozen;
}

/** The marks by which a redrive knows the letters of its plan. */
export interface Marks extends Pick<Operating, "identityOf"> {
  readonly arrivedAtMs?: Operating["arrivedAtMs"];
  /** The time of the plan, in ISO 8601. Left out if it was shown all letters. */
  readonly at?: string;
}

/** Takes a letter out if it is one of the plan. One that the plan was not shown has to be older than the plan. */
export function takeLetter(frozen: Frozen, letter: Letter, { identityOf, arrivedAtMs, at = "" }: Marks): boolean {
  if (frozen.take(digestOf(identityOf(letter)))) return true;
  const isOlder = arrivedAtMs !== undefined && arrivedAtMs(letter) <= Date.parse(at);
  return isOlder && frozen.takeBehind();
}

/** 64 bits of the digest of a letter's identity. In 37 million plans of a million letters, two letters share it once. */
export function digestOf(identity: string): bigint {
  return hash("sha256", identity, "buffer").readBigUInt64LE();
}

/** 8 bytes for each letter, as a text. */
export function writeFrozen(digests: readonly bigint[]): string {
  return Buffer.from(BigUint64Array.from(digests).buffer).toString("base64");
}

/**
 * @param text a result of `writeFrozen`
 * @param behind the letters that the broker counted for the plan, and did not show
 */
export function readFrozen(text: string, behind = 0): Frozen {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const sorted = new BigUint64Array(bytes.buffer).sort();
  const unique = sorted.filter((digest, index) => digest !== sorted[index - 1]);
  const counts = new Uint32Array(unique.length);
  let at = -1;
  for (const digest of sorted) {
    if (digest !== unique[at]) at += 1;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return frozenOf(unique, counts, behind);
}

/** Letters that are alike in everything are counted. A million letters take 12 megabytes. */
function frozenOf(unique: BigUint64Array, counts: Uint32Array, mostBehind: number): Frozen {
  let behind = mostBehind;
  const take = (digest: bigint): boolean => {
    let [low, high] = [0, unique.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((unique[middle] ?? 0n) < digest) low = middle + 1;
      else high = middle;
    }
    const left = unique[low] === digest ? (counts[low] ?? 0) : 0;
    if (left > 0) counts[low] = left - 1;
    return left > 0;
  };
  const takeBehind = (): boolean => (behind -= 1) >= 0;
  return { take, takeBehind, copy: () => frozenOf(unique, counts.slice(), behind) };
}
