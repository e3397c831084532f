import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import type { CompiledSystem } from "../brokers/index.ts";
import type { AnyContract } from "../contract/contract.ts";
import { type Checked, accepted, refusedFor } from "../diagnostics/diagnostic.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { type Changed, type Deployed, readDeployed } from "./deployed.ts";
import { type Holding, leftQueues } from "./held-queues.ts";

/** A declaration with its target, and a digest of the compiler's output. */
const step = z.strictObject({
  compiled: z.string(),
  target: z.record(z.string(), z.unknown()),
  declaration: z.record(z.string(), z.unknown()),
});

/**
 * `asked` is a digest of the declaration that a person asked for, and `phase` the index of the present step. `digest` is
 * that of all the rest: a phase that somebody edits would skip a gate.
 */
const migration = z.strictObject({
  digest: z.string(),
  asked: z.string(),
  phase: z.int().min(0),
  since: z.string(),
  steps: z.array(step).min(1),
  back: z.literal(true).optional(),
});

/**
 * The queues that removed consumers left behind. `digest` is that of `queues`: without one that somebody deletes, another
 * consumer would get its messages.
 */
const held = z.strictObject({
  digest: z.string(),
  queues: z.record(
    z.string(),
    z.strictObject({
      system: z.string(),
      consumer: z.string(),
      deadQueue: z.string().nullable(),
      fixed: z.record(z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))).optional(),
    }),
  ),
});

/**
 * The deployed declaration and target of one environment. `redeliver` is the version that compiled them, and `compiled`
 * a digest of its output. `consumers` shows a reader which strategy and queues they have.
 */
const environment = z.strictObject({
  redeliver: z.string(),
  compiled: z.string(),
  consumers: z.record(z.string(), z.strictObject({ strategy: z.string(), queues: z.array(z.string()) })),
  target: step.shape.target,
  declaration: step.shape.declaration,
  /** A digest of the declaration that the last migration was asked for. The deployed one has other names of queues. */
  asked: z.string().optional(),
  held: held.optional(),
  migration: migration.optional(),
});

const form = z.strictObject({
  lock: z.literal(1),
  system: z.string(),
  environments: z.record(z.string(), environment),
});

/** The content of a lock file: by the name of each environment, the declaration that is deployed there. */
export type Lock = z.output<typeof form>;

/** Reads a lock file. It never throws. */
export function readLock(text: string): Checked<Lock> {
  if (/^(<{7}|={7}|>{7})/m.test(text))
    return refused("two branches changed the lock, and their merge left a conflict in it");
  const parsed = form.safeParse(parse(text));
  if (parsed.success) return accepted(parsed.data);
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  return refused(
    place === "lock"
      ? "another version of Redeliver wrote the lock"
      : `it is no lock: ${place || "it is no JSON object"}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The lock with the system that is now deployed in an environment. The lock of another system is refused. */
export function lockWith(
  lock: Lock | null,
  name: string,
  changed: Changed,
  redeliver: string,
  asked?: string,
): Checked<Lock> {
  const named = nameOfSystem(changed.system);
  if (lock !== null && lock.system !== named) return ofAnother(lock, named);
  const { compiled: digest, ...rest } = stepOf(changed);
  const queues = leftIn(lock, name, changed);
  const added = {
    redeliver,
    compiled: digest,
    consumers: shownOf(changed),
    ...rest,
    ...(asked === undefined ? {} : { asked }),
    ...(Object.keys(queues).length === 0 ? {} : { held: { digest: digestOf(queues), queues } }),
  };
  const environments = { ...lock?.environments, [name]: added };
  const sorted = Object.entries(environments).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return accepted({ lock: 1, system: named, environments: Object.fromEntries(sorted) });
}

/** The strategy and the queues of each consumer, for a reader. */
function shownOf({ compiled }: Changed): z.output<typeof environment>["consumers"] {
  const contracts: readonly AnyContract[] = compiled.contracts;
  const consumers = contracts.map(({ consumer, strategy, workQueue, deadQueue }) => {
    const queues = [workQueue, deadQueue].filter((queue) => queue !== null);
    return [consumer, { strategy, queues }] as const;
  });
  return Object.fromEntries(consumers);
}

/** The queues that consumers of an environment have left behind, once another system is deployed there. */
function leftIn(lock: Lock | null, name: string, changed: Changed): NonNullable<Holding["held"]> {
  const own = lock !== null && Object.hasOwn(lock.environments, name) ? lock.environments[name] : undefined;
  const before = own === undefined ? null : readDeployed(own.declaration, own.target);
  return before === null ? (own?.held?.queues ?? {}) : leftQueues(own?.held?.queues ?? {}, before, changed);
}

/** The lock without an environment. */
export function withoutEnvironment(lock: Lock, name: string): Lock {
  const { [name]: _, ...environments } = lock.environments;
  return { ...lock, environments };
}

/**
 * The deployed system of an environment. Null if the lock has none.
 *
 * @param system its name on the broker
 */
export function lockedIn(lock: Lock, name: string, system: string): Checked<Holding | null> {
  if (lock.system !== system) return ofAnother(lock, system);
  const locked = Object.hasOwn(lock.environments, name) ? lock.environments[name] : undefined;
  if (locked === undefined) return accepted(null);
  const deployed = deployedIn(locked, name, locked.redeliver);
  if (deployed.ok && !isDeepStrictEqual(shownOf(deployed.value), locked.consumers))
    return refused(`somebody edited the strategies or queues of the consumers of ${name}`, "restore the lock from git");
  if (!deployed.ok || locked.held === undefined) return deployed;
  const { digest, queues } = locked.held;
  if (digest !== digestOf(queues))
    return refused(`somebody edited the queues that consumers of ${name} left behind`, "restore the lock from git");
  return accepted({ ...deployed.value, held: queues });
}

/**
 * The deployed system of an environment as this version of Redeliver compiles it, if another version wrote the lock and
 * compiled it otherwise. Null also if a migration is in progress: its steps are those of that version.
 */
export function updatedIn(lock: Lock, name: string, redeliver: string) {
  const own = Object.hasOwn(lock.environments, name) ? lock.environments[name] : undefined;
  if (own === undefined || own.redeliver === redeliver || own.migration !== undefined) return null;
  const changed = readDeployed(own.declaration, own.target);
  return changed === null || factsOf(changed.compiled) === own.compiled ? null : { changed, asked: own.asked };
}

function stepOf({ system, target, compiled }: Changed): z.output<typeof step> {
  return { compiled: factsOf(compiled), target: { ...target }, declaration: { ...system } };
}

function deployedIn(
  { declaration, target, compiled }: z.output<typeof step>,
  name: string,
  redeliver: string,
): Checked<Deployed> {
  const deployed = readDeployed(declaration, target);
  if (deployed !== null && factsOf(deployed.compiled) === compiled) return accepted(deployed);
  return refused(
    `Redeliver ${redeliver} compiled the system of ${name} otherwise, or somebody edited the lock`,
    `restore the lock from git. After an update of Redeliver, end a migration with Redeliver ${redeliver} first; then run redeliver lock with the declaration that is deployed, and deploy it again`,
  );
}

/** A migration in progress. The lock and the broker have all that a run needs to go on. */
export interface Going {
  readonly asked: string;
  /** The index of the step that is deployed, or is to be deployed. */
  readonly phase: number;
  /** ISO 8601. */
  readonly since: string;
  readonly steps: readonly Deployed[];
  /** Set on the way back from another migration. */
  readonly back?: true | undefined;
}

/** The migration of an environment; null if there is none. */
export function goingIn(lock: Lock, name: string): Checked<Going | null> {
  const { migration: going, redeliver = "" } = lock.environments[name] ?? {};
  if (going === undefined) return accepted(null);
  const steps = going.steps.map((each) => deployedIn(each, name, redeliver));
  const bad = steps.find((each) => !each.ok);
  if (bad !== undefined) return bad as Checked<never>;
  const { digest, ...rest } = going;
  if (digest !== digestOf(rest) || rest.phase >= steps.length)
    return refused(`somebody edited the migration of ${name}`, "restore the lock from git");
  return accepted({ ...rest, steps: steps.flatMap((each) => (each.ok ? [each.value] : [])) });
}

/** True if a declaration is deployed, or the last migration was asked for it. */
export function isDone(lock: Lock, name: string, wanted: Changed): boolean {
  const { compiled, asked } = lock.environments[name] ?? {};
  return compiled === factsOf(wanted.compiled) || asked === askedOf(wanted);
}

/** The lock with the present phase of an environment's migration. */
export function withGoing(lock: Lock, name: string, { asked, phase, since, steps, back }: Going): Lock {
  const own = lock.environments[name] as z.output<typeof environment>;
  const begun = { asked, phase, since, steps: steps.map(stepOf), ...(back === true ? { back } : {}) };
  const sealed = { ...own, migration: { digest: digestOf(begun), ...begun } };
  return { ...lock, environments: { ...lock.environments, [name]: sealed } };
}

/** The lock without the migration of an environment. */
export function withoutGoing(lock: Lock, name: string): Lock {
  const { migration: _, ...own } = lock.environments[name] as z.output<typeof environment>;
  return { ...lock, environments: { ...lock.environments, [name]: own } };
}

/**
 * Refuses another migration (RD307) while one is in progress.
 *
 * @param wanted the declaration that a person asks for; null for a lock that would end the migration
 */
export function refuseSecond({ asked, phase, since, steps }: Going, wanted: Changed | null): Checked<null> {
  const last = steps.at(-1)?.compiled;
  const isLast = wanted !== null && last !== undefined && factsOf(wanted.compiled) === factsOf(last);
  if (wanted !== null && (isLast || asked === askedOf(wanted))) return accepted(null);
  return refusedFor("RD307", {
    path: "",
    message: `a migration is at step ${phase + 1} of ${steps.length} since ${since}`,
    notes: ["messages may already be in its new queues, so its steps have to end first"],
    help: "restore the declaration that it began with from git and finish it, or go back with --back. Then make this change",
  });
}

export function askedOf({ system, target }: Pick<Changed, "system" | "target">): string {
  return digestOf({ system, target });
}

function ofAnother(lock: Lock, system: string): Checked<never> {
  return refused(
    `the lock is that of the system ${JSON.stringify(lock.system)}, and the declaration is ${JSON.stringify(system)}`,
    `if you renamed the system, write formerly: ${JSON.stringify(lock.system)}; otherwise give each system a folder with a project file and a lock of its own`,
  );
}

function refused(
  message: string,
  help = "restore it from git, or remove it and run redeliver lock for each environment",
): Checked<never> {
  return refusedFor("RD323", { path: "", message, help });
}

/** A digest of the facts that the compiler made. Its sentences may have other words in another version of Redeliver. */
export function factsOf({ target, topology, contracts, promises }: CompiledSystem): string {
  type Told = AnyContract & { readonly calls?: unknown };
  return digestOf([
    target,
    topology,
    (contracts as readonly Told[]).map((contract) => ({ ...contract, why: null, calls: null })),
    promises.map(({ consumer, promise, keeper }) => [consumer, promise, keeper]),
  ]);
}

function digestOf(data: object): string {
  return createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 16);
}
