import { createHash } from "node:crypto";

import type { LetterFacts } from "./facts.ts";

/** Letters that died of one cause. */
export interface Group {
  /** The same in every run, for the filter by group. */
  readonly id: string;
  /** The reason that all letters of the group have. Null if none is known. */
  readonly reason: string | null;
  /** Numbers and ids in it are replaced by `#`. */
  readonly error: string | null;
  /** The type of the message that all letters of the group have. */
  readonly type: string | null;
  /** The number of letters. */
  readonly count: number;
  /** The first and the last known time, as ISO 8601. */
  readonly firstAt: string | null;
  /** The last known time of a death, as ISO 8601. */
  readonly lastAt: string | null;
  /** The message id of one letter, or its position where it has none. */
  readonly sample: string;
}

/** The groups, the largest first. */
export interface Groups {
  /** The largest first. */
  readonly groups: readonly Group[];
  /** The letters of further causes. */
  readonly others: number;
}

/** An error whose every text is different would otherwise need a group for each letter. */
const mostGroups = 1_000;

/** Counts letters by their causes, in constant memory. */
export function createGrouping(): { readonly add: (facts: LetterFacts) => void; readonly result: () => Groups } {
  const groups = new Map<string, Group>();
  let others = 0;
  return {
    add: (facts) => {
      const key = keyOf(facts);
      const known = groups.get(key);
      if (known === undefined && groups.size === mostGroups) others += 1;
      else groups.set(key, known === undefined ? begun(key, facts) : joined(known, facts));
    },
    result: () => ({ groups: [...groups.values()].toSorted((left, right) => right.count - left.count), others }),
  };
}

/** The id of the group that a letter is in. */
export function groupIdOf(facts: LetterFacts): string {
  return idOf(keyOf(facts));
}

function keyOf({ reason, error, type }: LetterFacts): string {
  return JSON.stringify([reason, error === null ? null : withoutNumbers(error), type]);
}

function idOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

/** Replaces parts that differ from one message to the next: UUIDs, long hexadecimal numbers, decimal numbers. */
function withoutNumbers(error: string): string {
  return error
    .slice(0, 300)
    .replaceAll(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b|\b(?=[a-f]*\d)[\da-f]{8,}\b|\d+/gi, "#");
}

function begun(key: string, facts: LetterFacts): Group {
  const { reason, error, type, diedAt, messageId, position } = facts;
  return {
    id: idOf(key),
    reason,
    error: error === null ? null : withoutNumbers(error),
    type,
    count: 1,
    firstAt: diedAt,
    lastAt: diedAt,
    sample: messageId ?? `at position ${position}`,
  };
}

function joined(group: Group, { diedAt }: LetterFacts): Group {
  const [firstAt, lastAt] =
    diedAt === null
      ? [group.firstAt, group.lastAt]
      : [
          group.firstAt === null || diedAt < group.firstAt ? diedAt : group.firstAt,
          group.lastAt === null || diedAt > group.lastAt ? diedAt : group.lastAt,
        ];
  return { ...group, count: group.count + 1, firstAt, lastAt };
}
