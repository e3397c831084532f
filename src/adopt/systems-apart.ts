import { nameSome } from "../foreign/finding.ts";
import type { FoundConsumer, Unsaid } from "./found.ts";
import { inShell } from "./in-shell.ts";

/**
 * The smallest group of consumers that may be another system than the rest. In one group, a way leads from each to
 * another one through sources, waiting queues or dead queues, or their names begin with the same word.
 *
 * Many a system has single queues that share nothing with others. So only groups of two or more are compared.
 *
 * @param ways names that a way connects, beside the sources and the dead queue of each consumer
 */
export function systemsApart(
  consumers: readonly FoundConsumer[],
  ways: readonly (readonly [string, string])[] = [],
): readonly Unsaid[] {
  const parents = new Map<string, string>();
  const rootOf = (name: string): string => {
    let root = name;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    if (root !== name) parents.set(name, root);
    return root;
  };
  const own = consumers.flatMap(({ queue, sources, dead }) => [
    [`a name with ${/^[\p{L}\p{N}]*/u.exec(queue)?.[0]}`, queue] as const,
    ...[...sources.map(({ name }) => name), ...(dead === undefined ? [] : [dead.value])].map(
      (name) => [name, queue] as const,
    ),
  ]);
  for (const [one, other] of [...own, ...ways]) {
    const [left, right] = [rootOf(one), rootOf(other)];
    if (left !== right) parents.set(right, left);
  }
  const [least, ...others] = [...Map.groupBy(consumers, ({ queue }) => rootOf(queue)).values()]
    .filter((group) => group.length > 1)
    .map((group) => group.map(({ queue }) => queue))
    .toSorted((one, other) => one.length - other.length);
  if (least === undefined || others.length === 0) return [];
  const words = least.map((queue) => `--queue ${inShell(queue)}`).join(" ");
  const fact = `no source, queue or first word of a name connects them with ${nameSome(others.flat())}; if they are another system, adopt each alone, this one by ${words}`;
  return [{ place: nameSome(least), fact }];
}
