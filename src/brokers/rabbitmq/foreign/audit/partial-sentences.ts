import { nameText } from "../../../../foreign/finding.ts";

/** A dead letter without a route, where others have one. */
export interface Partly {
  /** True if the queue keeps it for ever. */
  readonly isKept: boolean;
  readonly key: string;
  /** A word that no binding names. */
  readonly word: string;
  readonly kind: string;
  /** The work queue that it comes from, if it dies in a wait queue. */
  readonly from: string | null;
}

export const partialTable = {
  RD429: (
    { pattern, exchange }: { readonly pattern: string; readonly exchange: string },
    { key, word, kind, from, isKept }: Partly,
  ) => {
    const keys = pattern === "#" ? "any key" : pattern;
    const isStrange = key !== pattern && key.split(".").includes(word);
    const what = kind === "headers" ? "headers" : "of these keys";
    return {
      predicate: `${from === null ? "takes" : `gets dead letters of ${nameText(from)} with`} ${keys}, and its dead-letter exchange ${exchange} has a route for some ${what} only`,
      notes: [
        `a dead letter with the key ${nameText(key)}${isStrange ? `, where "${word}" is a word without a binding,` : ""}${kind === "headers" ? " and no other headers than it needs to come here" : ""} is ${isKept ? "kept inside the queue for ever" : "deleted"}`,
      ],
      help:
        kind === "topic"
          ? `bind a dead queue to ${exchange} by ${pattern}, or set x-dead-letter-routing-key to a key that is bound`
          : kind === "direct"
            ? "set x-dead-letter-routing-key to a key that is bound, or make the dead-letter exchange a fanout"
            : `bind a dead queue to ${exchange} without headers and with x-match all, which takes each dead letter`,
    };
  },
} as const;
