import type { BrokerName } from "../../src/brokers/index.ts";
import { auditStack } from "../../src/policy/audit-stack.ts";
import type { StackResource } from "../../src/policy/stack.ts";

/**
 * The findings in a stack: the code, the place, and one queue. A finding about several queues appears once for each.
 */
export function foundIn(broker: BrokerName, resources: readonly StackResource[]): readonly string[] {
  const found = auditStack(broker, resources, []).flatMap(({ diagnostic: { code, path, value } }) => {
    const [, place = path, queue] = /^(.*)\.(?:queues|subscriptions)(?:\.|\[")([^"]+?)(?:"\])?$/.exec(path) ?? [];
    // The reader reports a problem of a virtual host once, at the first place.
    if (code.startsWith("RD40")) return [`${code} ${place.replace(/\.(queues|exchanges)[.[].*$/, "")}`];
    const names = Array.isArray(value) ? value.map(String) : [queue ?? String(value)];
    return names.map((name) => `${code} ${place} ${name}`);
  });
  return [...new Set(found)];
}
