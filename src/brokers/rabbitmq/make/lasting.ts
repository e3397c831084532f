import type { ExchangeResource, QueueResource } from "../compile/topology.ts";

const passing: ReadonlySet<string | undefined> = new Set(["tier", "wait", "attempt", "attempts", "reasons"]);

/** Some resources come and go with the number of attempts and with delays. */
export function isLasting(role: QueueResource["role"] | ExchangeResource["role"] | undefined): boolean {
  return !passing.has(role);
}
