import type { AnyContract } from "../contract/contract.ts";
import { type Checked, type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import type { Target } from "../brokers/index.ts";
import { type Deployed, needsUpgrade, renamed } from "./deployed.ts";
import { freeKey } from "./free-names.ts";
import { heldBack } from "./held-back.ts";
import { keepStrategies } from "./keep-strategies.ts";
import { type Migration, planMigration } from "./plan-migration.ts";

/** The way back, and the system that it begins with: the present step under the names of the old declaration. */
export interface WayBack {
  readonly start: Deployed;
  readonly migration: Migration;
}

/**
 * Finds the way back from a migration, and proves it. The old code has its old name again, and gets the sources. The new
 * code drains its queue, as the old code did on the way there.
 *
 * @param present the present step, which is deployed. Messages may be in each of its places
 * @param last the last step of the migration
 */
export function planBack(old: Deployed, present: Deployed, last: Deployed): Checked<WayBack> {
  const start = renamed(present, namesUnder(old, present));
  const names = namesUnder(old, last);
  const mixed = inTwoQueues(old, present, last);
  if (mixed.length > 0) return { ok: false, diagnostics: mixed };
  // The old consumer takes the place of the new one, which drains under another name.
  const heirs = [...names].flatMap(([consumer, drained]) =>
    Object.hasOwn(old.system.consumers, consumer) ? [[drained, consumer] as const] : [],
  );
  const planned = planMigration(renamed(last, names), old.system, targetBack(old, last), {
    back: { start, heirs: new Map(heirs) },
  });
  return planned.ok ? { ...planned, value: { start, migration: planned.value } } : planned;
}

/** Nobody takes a broker back to an older version, and the new code drains by a strategy that may need the newer one. */
function targetBack(old: Deployed, { target: last }: Deployed): Target {
  if (!needsUpgrade(old.target, last)) return old.target;
  const { strategies: _, ...newer } = last;
  const { strategy, strategies } = old.target;
  const target = { ...newer, strategy, ...(strategies === undefined ? {} : { strategies }) } as Target;
  return keepStrategies(old, old.system, target).value;
}

/** The old code would take later messages of its queue before earlier ones of the new queue. */
function inTwoQueues(old: Deployed, present: Deployed, last: Deployed): readonly Diagnostic[] {
  const queues = new Set((present.compiled.contracts as readonly AnyContract[]).map(({ workQueue }) => workQueue));
  return heldBack(old, last)
    .filter(({ queue, newQueue }) => queues.has(queue) && queues.has(newQueue))
    .map(({ consumer, queue, newQueue }) =>
      diagnostic("RD306", {
        path: ["consumers", consumer],
        message: `no way back keeps messages of ${consumer} in order while they wait in both ${queue} and ${newQueue}`,
        help: "go on until this step has ended, so that the first queue is empty, and go back from the next one",
      }),
    );
}

/** A consumer gets the name that the old declaration has for its queue. Another one does not keep such a name. */
function namesUnder(old: Deployed, side: Deployed): ReadonlyMap<string, string> {
  const contractsOf = ({ compiled }: Deployed): readonly AnyContract[] => compiled.contracts;
  const owners = new Map(contractsOf(old).map(({ consumer, workQueue }) => [workQueue ?? `${consumer}\n`, consumer]));
  const names = contractsOf(side).flatMap(({ consumer, workQueue }) => {
    const isTaken = Object.hasOwn(old.system.consumers, consumer);
    const name =
      owners.get(workQueue ?? `${consumer}\n`) ??
      (isTaken ? freeKey(old.system.consumers, consumer, "after") : consumer);
    return name === consumer ? [] : [[consumer, name] as const];
  });
  return new Map(names);
}
