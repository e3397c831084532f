import { createHash } from "node:crypto";

/**
 * The id of a copy, which is the same whenever the same attempt of a message fails. If the original id leaves no room
 * for the suffix, its SHA-256 replaces it. Otherwise Service Bus would refuse each copy, until the crash budget is
 * spent and the message is dead.
 *
 * @param longest the most characters of an id
 */
export function copyIdOf(originalId: string, suffix: string, longest: number): string {
  const id = `${originalId}${suffix}`;
  return id.length <= longest ? id : `${createHash("sha256").update(originalId).digest("hex")}${suffix}`;
}
