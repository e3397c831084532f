/**
 * Messages that are known only in part, for topologies that others made. Nothing there says which keys and headers
 * publishers use.
 *
 * Such a message goes to every place that any fitting message could reach. So no message reaches a place that it cannot
 * reach. If it has no route, no fitting message has one.
 */

/** Begins a key that stands for every routing key that a topic pattern matches. It is a private-use character. */
const marker = "\uE001";

/** A header of this name says that the message may have further headers. */
export const unknownHeaders = "\uE001";

/** A routing key that stands for all those that a topic pattern matches. */
export function anyKeyLike(pattern: string): string {
  return `${marker}${pattern}`;
}

/** @returns null for a key that is known */
export function patternOf(routingKey: string): string | null {
  return routingKey.startsWith(marker) ? routingKey.slice(marker.length) : null;
}

/** The keys of messages that come through a binding, as far as the binding shows them. */
export function keyThrough(kind: string | undefined, { routingKey }: { readonly routingKey: string }): string {
  if (kind === "direct") return routingKey;
  if (kind !== "topic") return anyKeyLike("#");
  return /(^|\.)[*#](\.|$)/.test(routingKey) ? anyKeyLike(routingKey) : routingKey;
}
