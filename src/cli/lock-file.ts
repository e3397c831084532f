import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Checked } from "../diagnostics/diagnostic.ts";
import type { Deployed } from "../migrate/deployed.ts";
import { type Lock, lockedIn, readLock } from "../migrate/lock.ts";
import { environmentIn } from "./load-target.ts";
import { readText } from "./read-text.ts";
import { writeWhole } from "./write-file.ts";

/** The lock file beside a project file, and an environment. */
export type LockPlace = NonNullable<ReturnType<typeof lockPlaceOf>>;

/** @returns null for a target that is no environment of a project file */
export function lockPlaceOf(target: string) {
  const found = environmentIn(target);
  return found === null ? null : { file: join(dirname(found.file), "redeliver.lock.json"), environment: found.name };
}

/** Null if there is no such file. */
export function loadLock(file: string): Checked<Lock> | null {
  if (!existsSync(file)) return null;
  const text = readText(file);
  return text.ok ? readLock(text.value) : text;
}

/** The system that is deployed in an environment. Null if no lock has it. */
export function readLocked({ file, environment }: LockPlace, system: string): Checked<Deployed | null> | null {
  const lock = loadLock(file);
  return lock?.ok === true ? lockedIn(lock.value, environment, system) : lock;
}

/** @throws UnwritableError */
export async function writeLock(file: string, lock: Lock): Promise<void> {
  await writeWhole(file, `${JSON.stringify(lock, null, 2)}\n`);
}
