import type { Letter } from "./letter.ts";
import { jsonIn } from "../foreign/parse-json.ts";

/**
 * The one header that a redrive leaves on a letter: a JSON text, because every client and protocol keeps texts. A letter
 * that dies again keeps it.
 */
export const historyHeader = "redeliver-history";

/** One move of a letter by a person: it was sent again, or parked. */
export interface Redriven {
  /** How often the letter has been sent again, with this time. */
  readonly generation: number;
  /** The id of the redrive, or of the other command. */
  readonly redrive: string;
  /** ISO 8601. */
  readonly at: string;
  /** Why the letter had died. Null if unknown. */
  readonly reason: string | null;
  /** The publisher's routing key, which a redrive replaces by the queue's name. */
  readonly routingKey: string;
  /** Its place in the dead queue then. */
  readonly position: number;
  /** The digest of the letter in the plan, in hexadecimal. Only a redrive needs it. */
  readonly letter?: string;
  /** Left out for a plain redrive. */
  readonly did?: "parked" | "edited";
  readonly by?: string;
  readonly why?: string;
  /** The queue that a parked letter died in. Null if unknown. */
  readonly queue?: string | null;
  /** The id before an edit. */
  readonly messageId?: string | null;
}

/** Headers travel with every copy, so the oldest entries go. The generation counts on. */
const mostEntries = 10;

/** The redrives of a letter, the newest first. A header that others wrote counts as none. */
export function historyOf({ headers }: Pick<Letter, "headers">): readonly Redriven[] {
  const text = headers[historyHeader];
  if (typeof text !== "string") return [];
  const entries = jsonIn(text);
  return Array.isArray(entries) && entries.every(isRedriven) ? entries : [];
}

/** The header of a letter that is sent again, or parked. Only the first counts. */
export function historyWith(letter: Pick<Letter, "headers">, added: Omit<Redriven, "generation">): string {
  const before = historyOf(letter);
  const generation = (before[0]?.generation ?? 0) + (added.did === "parked" ? 0 : 1);
  return JSON.stringify([{ generation, ...added } satisfies Redriven, ...before].slice(0, mostEntries));
}

function isRedriven(value: unknown): value is Redriven {
  const { generation, redrive, at } = Object(value) as Partial<Redriven>;
  return Number.isSafeInteger(generation) && Number(generation) >= 0 && [redrive, at].every(isText);
}

const isText = (value: unknown): boolean => typeof value === "string";
