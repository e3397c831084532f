import { createHash } from "node:crypto";

import { z } from "zod";

import type { AnyContract } from "../contract/contract.ts";
import { type Checked, accepted, refusedFor } from "../diagnostics/diagnostic.ts";
import { type Changed, type Deployed, readDeployed } from "./deployed.ts";

/**
 * The deployed declaration and target of one environment. `redeliver` is the version that compiled them, and `compiled`
 * a digest of its output. `consumers` shows a reader which strategy and queues they have.
 */
const environment = z.strictObject({
  redeliver: z.string(),
  compiled: z.string(),
  consumers: z.record(z.string(), z.strictObject({ strategy: z.string(), queues: z.array(z.string()) })),
  target: z.record(z.string(), z.unknown()),
  declaration: z.record(z.string(), z.unknown()),
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
    place === "lock" ? "another version of Redeliver wrote the lock" : `it is no lock: ${place || "it is no JSON"}`,
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
export function lockWith(lock: Lock | null, name: string, changed: Changed, redeliver: string): Checked<Lock> {
  const { system, target, compiled } = changed;
  if (lock !== null && lock.system !== system.name) return ofAnother(lock, system.name);
  const contracts: readonly AnyContract[] = compiled.contracts;
  const consumers = contracts.map(({ consumer, strategy, workQueue, deadQueue }) => {
    const queues = [workQueue, deadQueue].filter((queue) => queue !== null);
    return [consumer, { strategy, queues }] as const;
  });
  const added = {
    redeliver,
    compiled: digestOf(compiled),
    consumers: Object.fromEntries(consumers),
    target: { ...target },
    declaration: { ...system },
  };
  const environments = { ...lock?.environments, [name]: added };
  const sorted = Object.entries(environments).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return accepted({ lock: 1, system: system.name, environments: Object.fromEntries(sorted) });
}

/** The deployed system of an environment. Null if the lock has none. */
export function lockedIn(lock: Lock, name: string, system: string): Checked<Deployed | null> {
  if (lock.system !== system) return ofAnother(lock, system);
  const locked = Object.hasOwn(lock.environments, name) ? lock.environments[name] : undefined;
  if (locked === undefined) return accepted(null);
  const deployed = readDeployed(locked.declaration, locked.target);
  if (deployed !== null && digestOf(deployed.compiled) === locked.compiled) return accepted(deployed);
  return refused(
    `Redeliver ${locked.redeliver} compiled the system of ${name} otherwise, or somebody edited the lock`,
    "restore the lock from git; after an update of Redeliver, deploy the declaration that the lock has, and lock it again",
  );
}

function ofAnother(lock: Lock, system: string): Checked<never> {
  return refused(
    `the lock is that of the system ${JSON.stringify(lock.system)}, and the declaration is ${JSON.stringify(system)}`,
    "give each system a folder with a project file and a lock of its own",
  );
}

function refused(
  message: string,
  help = "restore it from git, or remove it and run redeliver lock for each environment",
): Checked<never> {
  return refusedFor("RD323", { path: "", message, help });
}

/** Both sides are compiled by one version, which gives the same bytes for the same input. */
export function digestOf(compiled: Changed["compiled"]): string {
  return createHash("sha256").update(JSON.stringify(compiled)).digest("hex").slice(0, 16);
}
