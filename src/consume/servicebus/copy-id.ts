import { createHash } from "node:crypto";

/**
 * The id of a copy, which is the same whenever the same attempt of a message fails. An original id that leaves no room for the suffix gives way to
 * its SHA-256: Service Bus would refuse the copy each time, until the crash budget is spent and the message dead.
 *
 * @param longest characters that an id may have
 */
export function copyIdOf(originalId: string, suffix: string, longest: number): string {
  const id = `${originalId}${suffix}`;
  return id.length <= longest ? id : `${createHash("sha256").update(originalId).digest("hex")}${suffix}`;
}
