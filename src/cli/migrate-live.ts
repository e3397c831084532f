import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import { holdFile } from "../dead-letters/journal-sqlite.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type Deployed, readDeployed } from "../migrate/deployed.ts";
import { isUntouched } from "../migrate/judge-step.ts";
import {
  type Going,
  type Lock,
  askedOf,
  goingIn,
  isDone,
  lockWith,
  lockedIn,
  refuseSecond,
  withoutGoing,
} from "../migrate/lock.ts";
import { planBack } from "../migrate/plan-back.ts";
import { type Migration, planMigration } from "../migrate/plan-migration.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { sourcesIn } from "./audit-source.ts";
import { compilePlan, loadPlan } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { type LockPlace, loadLock, lockPlaceOf, targetFor, writeLock } from "./lock-file.ts";
import { goOn, namesIn, save } from "./migrate-run.ts";
import { type End, type Refusal, type Run, deployStep, look, refusal } from "./migrate-step.ts";
import type { MigrateOptions } from "./migrate.ts";
import { print } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { ended, refuse, say, usage } from "./refuse.ts";
import { UnwritableError } from "./write-file.ts";

/**
 * Goes on with the migration of an environment: `--next` looks at the broker and moves the lock to the next step, and
 * `--apply` also makes the changes. All it knows is in the lock and on the broker, so it can end at any instant.
 */
export async function migrateLive(file: string, options: MigrateOptions): Promise<number> {
  const place = lockPlaceOf(options.target);
  const [source] = sourcesIn({ ...options });
  if (place === null) return usage("--next and --apply need the lock of an environment: name it with --env", options);
  if (source?.kind !== "live")
    return usage("name the running broker with --url, or managementUrl in the project file", options);
  const planned = await loadPlan(file, options.target);
  const target = targetFor(planned, options.target, options.strategy);
  const proved = await compilePlan(file, planned, target, options);
  if (!proved.ok) return proved.exitCode;
  const { migrating, title } = brokerOf(proved.target);
  if (migrating === undefined || source.audited.name !== proved.target.broker)
    return usage(`--next and --apply do not work on ${title} yet: follow the steps that migrate prints`, options);
  if (options.apply === true && migrating.requestsFor === undefined)
    return usage(`--apply does not work on ${title} yet: deploy each step, and use --next`, options);
  const name = createHash("sha256")
    .update(`${resolve(place.file)}#${place.environment}`)
    .digest("hex")
    .slice(0, 16);
  const held = await holdFile(join(tmpdir(), `redeliver-migrate-${name}.lock`));
  try {
    const end = held === null ? atWork(place) : await begin({ place, source, options, wanted: proved });
    if ("usage" in end) return await usage(end.usage, options);
    if ("diagnostics" in end) {
      const about = end.of === undefined ? { file: place.file } : {};
      return await refuse(end.diagnostics, options, about, exitCodes[end.of === "connection" ? "usage" : "refused"]);
    }
    const { exitCode, state, lines, inTheWay = [] } = end;
    const answer = { ok: exitCode === exitCodes.fine, state, inTheWay, lines };
    return ended(await print(options.json === true ? answer : `${lines.join("\n")}\n`), exitCode);
  } catch (cause) {
    if (cause instanceof UnwritableError) return await usage(`a file cannot be written: ${cause.message}`, options);
    throw cause;
  } finally {
    await held?.release();
  }
}

function atWork({ environment }: LockPlace): Refusal {
  const message = `another process carries out the migration of ${environment}`;
  return refusal("RD307", message, "wait until it has ended; a migration goes on wherever it stopped");
}

/** Takes up the migration in the lock, or begins a new one. */
async function begin(asked: Omit<Run, "from" | "going">): Promise<End> {
  const { place, wanted } = asked;
  const { file, environment } = place;
  const lock = loadLock(file);
  if (lock?.ok === false) return lock;
  const deployed = lock === null ? null : lockedIn(lock.value, environment, nameOfSystem(wanted.system));
  if (deployed?.ok === false) return deployed;
  const from = deployed?.value ?? null;
  if (lock === null || from === null)
    return { usage: `${file} does not say what is deployed: run redeliver lock first` };
  if (from.target.broker !== wanted.target.broker)
    return { usage: "a migration stays on one broker: deploy the system on the other one, and move its producers" };
  const known = goingIn(lock.value, environment);
  if (!known.ok) return known;
  const going = known.value;
  if (asked.options.back === true) return goBack({ ...asked, from, going }, lock.value);
  const second = going === null ? null : refuseSecond(going, wanted);
  if (going !== null && second?.ok === true) return goOn({ ...asked, from, going });
  if (going === null && isDone(lock.value, environment, wanted))
    return {
      exitCode: exitCodes.fine,
      state: "done",
      lines: ["nothing to migrate: this is deployed", ...namesIn(from)],
    };
  const migration = planMigration(from, wanted.system, wanted.target, { acceptWeaker: asked.options.acceptWeaker });
  if (!migration.ok) return second?.ok === false ? second : migration;
  const { warnings, avoided, steps } = stepsOf(migration.value);
  const weaker = notAgreed(warnings, asked.options);
  if (going === null && weaker !== null) return weaker;
  const fresh = { asked: askedOf(wanted), phase: 0, since: new Date().toISOString(), steps };
  const seen = await look({ ...asked, from, going: going ?? fresh });
  if ("diagnostics" in seen) return seen;
  const isFirst = going === null || (going.phase === 0 && isUntouched(from, going.steps[0] as Deployed, seen));
  if (!isFirst && second?.ok === false) return second;
  if (weaker !== null) return weaker;
  const told = [...warnings, ...avoided.map(keptBySteps)];
  if (told.length > 0 && asked.options.json !== true) say(told, {});
  await save({ place, options: asked.options }, fresh);
  return goOn({ ...asked, from, going: fresh });
}

/** Refuses steps whose weaker promises nobody has agreed to. */
function notAgreed(warnings: readonly Diagnostic[], { acceptWeaker }: MigrateOptions): Refusal | null {
  if (warnings.length === 0 || acceptWeaker === true) return null;
  const diagnostics = warnings.map((each) => ({ ...each, help: `${each.help ?? ""}, with --accept-weaker` }));
  return { diagnostics, of: "declaration" };
}

/** Says why a migration has more steps than one. */
function keptBySteps(avoided: Diagnostic): Diagnostic {
  const help = "go on: the steps of this migration keep the promise. For one without, use --back, and --accept-weaker";
  return { ...avoided, help };
}

function stepsOf({ steps: planned, avoided }: Migration) {
  const steps = planned.flatMap((each) => readDeployed(each.system, each.target) ?? []);
  return { warnings: planned.flatMap((each) => each.warnings), avoided, steps };
}

/** Finishes the present step, and goes back from there. Without a change up to now, it only forgets the migration. */
async function goBack(
  { going, ...asked }: Omit<Run, "going"> & { readonly going: Going | null },
  lock: Lock,
): Promise<End> {
  const { place, options, from } = asked;
  if (going === null)
    return { usage: "no migration is in progress: to return to an earlier declaration, migrate to it" };
  if (going.back === true) return goOn({ ...asked, going });
  const [present, last] = [going.steps[going.phase], going.steps.at(-1)] as [Deployed, Deployed];
  const seen = await look({ ...asked, going });
  if ("diagnostics" in seen) return seen;
  if (going.phase === 0 && isUntouched(from, present, seen)) {
    await writeLock(place.file, withoutGoing(lock, place.environment));
    const lines = ["the migration had changed nothing, and is forgotten", `${place.file} says so. Commit it.`];
    return { exitCode: exitCodes.fine, state: "done", lines };
  }
  const way = planBack(from, present, last);
  if (!way.ok) return way;
  const { start, migration } = way.value;
  const { warnings, steps } = stepsOf(migration);
  const weaker = notAgreed(warnings, options);
  if (weaker !== null) return weaker;
  const unfinished = await deployStep({ ...asked, going });
  if (unfinished.end !== null) return unfinished.end;
  if (warnings.length > 0 && options.json !== true) say(warnings, {});
  const turned = { asked: askedOf(from), phase: 0, since: new Date().toISOString(), steps, back: true } as const;
  const now = lockWith(lock, place.environment, start, ownVersion());
  if (!now.ok) return now;
  await save({ place, options }, turned, now.value);
  return goOn({ ...asked, from: start, going: turned });
}
