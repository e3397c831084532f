import { type Target, brokerOf } from "../brokers/index.ts";
import type { Graph } from "../brokers/graph.ts";
import { resourcesOf, sumOf } from "../compile/budget.ts";
import type { Plan } from "../plan/plan.ts";

/** The price of a system on the broker under one strategy. */
export interface Costs {
  /** `auto` if each consumer has its own strategy. */
  readonly strategy: string;
  /** The number of resources of each kind. Null if the strategy cannot keep the promises of each consumer. */
  readonly resources: Readonly<Record<string, number>> | null;
  /**
   * The most moves from queue to queue in one retry. Each stores the message anew. It is 0 if the message or its
   * copy waits in the work queue.
   */
  readonly hops: number;
  /** The consumers whose strategy under `auto` is that of the lock. Left out if there are none. */
  readonly keptByLock?: readonly string[];
}

/**
 * The costs under the target's own strategies first, and then with each strategy of its broker for all consumers. Proves
 * nothing.
 *
 * @param kept the consumers whose strategy the lock keeps
 */
export function costsByStrategy(plan: Plan, target: Target, kept: readonly string[] = []): readonly Costs[] {
  const { strategyNames } = brokerOf(target);
  const { strategies: _, ...whole } = target;
  const own = target.strategy ?? "auto";
  const others = strategyNames.filter((name) => name !== own);
  return [
    { ...costsOf(plan, target), ...(kept.length === 0 ? {} : { keptByLock: kept }) },
    ...others.map((strategy) => costsOf(plan, { ...whole, strategy } as Target)),
  ];
}

/** The costs under the target's own strategy. Proves nothing. */
export function costsOf(plan: Plan, target: Target): Costs {
  const { compile, graphOf } = brokerOf(target);
  const strategy = target.strategy ?? "auto";
  const compiled = compile(plan, target);
  if (!compiled.ok) return { strategy, resources: null, hops: 0 };
  return { strategy, resources: resourcesOf(compiled.value), hops: hopsOf(graphOf(compiled.value)) };
}

/** Follows each retry from its work queue through the places where it waits, until it is back. */
function hopsOf({ edges }: Graph): number {
  const keyOf = (consumer: string | null, place: string): string => JSON.stringify([consumer, place]);
  const due = new Map(
    edges.flatMap(({ kind, consumer, from, to }) => (kind === "due" ? [[keyOf(consumer, from), to] as const] : [])),
  );
  const retries = edges.filter(({ kind }) => kind === "retry");
  const hops = retries.map(({ consumer, from, to }) => {
    const passed = new Set<string>();
    let place: string | undefined = to;
    while (place !== undefined && place !== from && !passed.has(place)) {
      passed.add(place);
      place = due.get(keyOf(consumer, place));
    }
    return passed.size === 0 ? 0 : passed.size + 1;
  });
  return hops.reduce((most, each) => Math.max(most, each), 0);
}

/** One row for each strategy, with text in each cell. */
export function costTable(costs: readonly Costs[]): { readonly head: string[]; readonly rows: readonly string[][] } {
  const kinds = [...new Set(costs.flatMap(({ resources }) => Object.keys(resources ?? {})))];
  return {
    head: ["strategy", ...kinds, "together", "hops of a retry"],
    rows: costs.map(({ strategy, resources, hops, keptByLock }) =>
      resources === null
        ? [strategy, ...kinds.map(() => "–"), "–", "cannot keep the promises"]
        : [
            keptByLock === undefined ? strategy : `${strategy}, kept by the lock`,
            ...kinds.map((kind) => String(resources[kind] ?? 0)),
            String(sumOf(resources)),
            String(hops),
          ],
    ),
  };
}

/** The table of a change. A cell that changes has both values. */
export function costChangeTable(before: readonly Costs[], after: readonly Costs[]): ReturnType<typeof costTable> {
  const { head, rows } = costTable([...before, ...after]);
  const later = rows.slice(before.length);
  return {
    head,
    rows: rows.slice(0, before.length).map((cells, row) =>
      cells.map((cell, column) => {
        const next = later[row]?.[column] ?? cell;
        return cell === next ? cell : `${cell} → ${next}`;
      }),
    ),
  };
}
