/**
 * Messages of which only a part is known, for topologies that others made: nobody says there which keys and headers publishers use.
 *
 * Such a message goes wherever a message could go that fits what is known. So what such a message cannot reach no message
 * can, and where it has no route, none has one.
 */

/** Begins a key that stands for every routing key that a topic pattern matches; a character for private use. */
const marker = "\uE001";

/** A header of this name says that the message may have any headers beside those that it has. */
export const unknownHeaders = "\uE001";

/** A routing key that stands for all those that a topic pattern matches. */
export function anyKeyLike(pattern: string): string {
  return `${marker}${pattern}`;
}

/** @returns null for a key that is known */
export function patternOf(routingKey: string): string | null {
  return routingKey.startsWith(marker) ? routingKey.slice(marker.length) : null;
}
