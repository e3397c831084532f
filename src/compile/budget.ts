import { type CompiledSystem, type Target, brokerOf } from "../brokers/index.ts";
import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";

type Resources = Readonly<Record<string, number>>;

/** The number of resources of each kind that Redeliver makes, by the broker's words. */
export function resourcesOf({ topology }: CompiledSystem): Readonly<Record<string, number>> {
  const lists = Object.entries(topology).filter((entry): entry is [string, readonly unknown[]] =>
    Array.isArray(entry[1]),
  );
  const isOwn = (resource: unknown): boolean => (resource as { readonly owner?: string }).owner !== "other";
  return Object.fromEntries(lists.map(([kind, list]) => [kind, list.filter(isOwn).length]));
}

/** By the broker's word for a kind of resource: the number before and after a change. */
export type ChangedCounts = Readonly<Record<string, { readonly from: number; readonly to: number }>>;

/** Counts the resources of both sides. A kind that only one broker has is 0 on the other side. */
export function changedCounts(before: CompiledSystem, after: CompiledSystem): ChangedCounts {
  const [old, now] = [resourcesOf(before), resourcesOf(after)];
  const kinds = Object.keys({ ...old, ...now });
  return Object.fromEntries(kinds.map((kind) => [kind, { from: old[kind] ?? 0, to: now[kind] ?? 0 }]));
}

export function sumOf(resources: Resources): number {
  return Object.values(resources).reduce((sum, each) => sum + each, 0);
}

/** The counts that a declaration can limit. */
const counts = {
  queues: (resources: Resources): number => resources["queues"] ?? 0,
  resources: sumOf,
} as const;

/** Refuses a compiled system beyond the budget of its declaration. */
export function diagnoseBudget(planned: Plan, target: Target, compiled: CompiledSystem): Diagnostic[] {
  const own = resourcesOf(compiled);
  return (["queues", "resources"] as const).flatMap((field) => {
    const most = planned.limits?.[field];
    const made = counts[field](own);
    if (most === undefined || made <= most) return [];
    const cheaper = cheaperStrategies(planned, target, field, made);
    const fitting = cheaper.filter(({ count }) => count <= most).map(({ strategy }) => strategy);
    const edits = [
      ...(fitting.length === 0 ? [] : [`use the strategy ${fitting.join(" or ")}`]),
      "divide the system",
      `raise limits.${field} to ${made}`,
    ];
    const of = field === "queues" ? "queues" : "resources of all kinds";
    return diagnosed("RD223", {
      path: ["limits", field],
      message: `on ${compiled.target} the system has ${made.toLocaleString("en")} ${of}; ${most.toLocaleString("en")} are allowed`,
      value: most,
      notes: cheaper.map(({ strategy, count }) => `under ${strategy} it would have ${count.toLocaleString("en")}`),
      help: edits.join(", or "),
    });
  });
}

/** The strategies that keep every promise with fewer of the counted things. It compiles the system under each. */
function cheaperStrategies(
  planned: Plan,
  target: Target,
  field: keyof typeof counts,
  made: number,
): { readonly strategy: string; readonly count: number }[] {
  const { compile, strategyNames } = brokerOf(target);
  return strategyNames.flatMap((strategy) => {
    const compiled = compile(planned, { ...target, strategy } as Target);
    const count = compiled.ok ? counts[field](resourcesOf(compiled.value)) : made;
    return count < made ? [{ strategy, count }] : [];
  });
}
