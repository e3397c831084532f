import type { BrokerName } from "../../src/brokers/index.ts";
import type { StackResource } from "../../src/policy/judge-stack.ts";
import { judgeStack } from "../../src/policy/judge-stack.ts";

/** What is found in a stack: the code, where, and one queue that it is about. What holds of several is told for each. */
export function foundIn(broker: BrokerName, resources: readonly StackResource[]): readonly string[] {
  const found = judgeStack(broker, resources, []).flatMap(({ diagnostic: { code, path, value } }) => {
    const [, place = path, queue] = /^(.*)\.(?:queues|subscriptions)(?:\.|\[")([^"]+?)(?:"\])?$/.exec(path) ?? [];
    // What the reader says is said once for all of a virtual host, at the first that it holds of.
    if (code.startsWith("RD40")) return [`${code} ${place.replace(/\.(queues|exchanges)[.[].*$/, "")}`];
    const names = Array.isArray(value) ? value.map(String) : [queue ?? String(value)];
    return names.map((name) => `${code} ${place} ${name}`);
  });
  return [...new Set(found)];
}
