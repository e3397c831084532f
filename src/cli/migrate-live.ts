import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

import { brokerOf } from "../brokers/index.ts";
import type { WatchedQueue } from "../brokers/migrating.ts";
import { holdFile } from "../dead-letters/journal-sqlite.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import { type Changed, type Deployed, readDeployed } from "../migrate/deployed.ts";
import { type Gate, type Observed, gateBehind, isOpen, isQuiet, observe } from "../migrate/gate.ts";
import { againstBroker, driftDiagnostics, judgeDrift, otherDiagnostics } from "../migrate/judge-drift.ts";
import { type StepSeen, isUntouched, seeStep } from "../migrate/judge-step.ts";
import { type Going, askedOf, goingIn, isDone, lockWith, lockedIn, refuseSecond, withGoing } from "../migrate/lock.ts";
import { planMigration } from "../migrate/plan-migration.ts";
import { type AuditSource, changeSource, readSource, sourcesIn } from "./audit-source.ts";
import { compilePlan, loadPlan } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { type LockPlace, loadLock, lockPlaceOf, targetFor, writeLock } from "./lock-file.ts";
import type { MigrateOptions } from "./migrate.ts";
import { print, writeError } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { ended, refuse, say, usage } from "./refuse.ts";
import { settled } from "./settled.ts";
import { UnwritableError } from "./write-file.ts";
import { writeStep } from "./write-step.ts";

type Live = Extract<AuditSource, { readonly kind: "live" }>;

/** Everything that a run needs. Only `going` changes. */
interface Run {
  readonly place: LockPlace;
  readonly source: Live;
  readonly options: MigrateOptions;
  readonly from: Deployed;
  readonly wanted: Changed;
  readonly going: Going;
}

/** The end of a run: an exit code and the facts, or the reasons of a refusal. */
type End = Ended | { readonly usage: string } | Refusal;

interface Ended {
  readonly exitCode: number;
  readonly state: "deploy" | "wait" | "done";
  readonly lines: readonly string[];
  /** The changes that are left to make, or the messages and consumers at a gate. */
  readonly inTheWay?: readonly string[];
}

interface Refusal {
  readonly diagnostics: readonly Diagnostic[];
  /** Left out if the lock is the reason: a broker that differs, or one that gives no answer. */
  readonly of?: "broker" | "connection";
}

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
  const planned = await loadPlan(file);
  const target = targetFor(planned, options.target, options.strategy);
  const proved = await compilePlan(file, planned, target, options);
  if (!proved.ok) return proved.exitCode;
  const { migrating, title } = brokerOf(proved.target);
  if (migrating === undefined || source.audited.name !== proved.target.broker)
    return usage(`--next and --apply do not work on ${title} yet: follow the steps that migrate prints`, options);
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
  const deployed = lock === null ? null : lockedIn(lock.value, environment, wanted.system.name);
  if (deployed?.ok === false) return deployed;
  const from = deployed?.value ?? null;
  if (lock === null || from === null)
    return { usage: `${file} does not say what is deployed: run redeliver lock first` };
  if (from.target.broker !== wanted.target.broker)
    return { usage: "a migration stays on one broker: deploy the system on the other one, and move its producers" };
  const known = goingIn(lock.value, environment);
  if (!known.ok) return known;
  const going = known.value;
  const second = going === null ? null : refuseSecond(going, wanted);
  if (going !== null && second?.ok === true) return goOn({ ...asked, from, going });
  if (going === null && isDone(lock.value, environment, wanted))
    return {
      exitCode: exitCodes.fine,
      state: "done",
      lines: ["nothing to migrate: this is deployed", ...namesIn(from)],
    };
  const migration = planMigration(from, wanted.system, wanted.target);
  if (!migration.ok) return migration;
  const planned = [migration.value.beside, migration.value.last].filter((each) => each !== null);
  const warnings = planned.flatMap((each) => each.warnings);
  const steps = planned.flatMap((each) => readDeployed(each.system, each.target) ?? []);
  const fresh = { asked: askedOf(wanted), phase: 0, since: new Date().toISOString(), steps };
  const seen = await look({ ...asked, from, going: going ?? fresh });
  if ("diagnostics" in seen) return seen;
  const isFirst = going === null || (going.phase === 0 && isUntouched(from, going.steps[0] as Deployed, seen));
  if (!isFirst && second?.ok === false) return second;
  if (warnings.length > 0 && asked.options.json !== true) say(warnings, {});
  await save({ place, options: asked.options }, fresh);
  return goOn({ ...asked, from, going: fresh });
}

/** Goes through the steps until one has to wait. */
async function goOn(run: Run): Promise<End> {
  const { options, from, going, place } = run;
  const number = `step ${going.phase + 1} of ${going.steps.length}`;
  for (let tries = 0; ; tries++) {
    const seen = await look(run);
    if ("diagnostics" in seen) return seen;
    if (seen.left.length === 0) break;
    if (options.apply !== true) return toDeploy(run, number, seen);
    if (tries > 1) {
      const message = `${number}: the broker accepted to ${seen.left[0]?.text}, and has not done it`;
      return { ...refusal("RD311", message, againstBroker.help), of: "broker" };
    }
    const sent = await changeSource(run.source, seen.left, (text) =>
      writeError(`redeliver: ${number}: ${visible(text)}\n`),
    );
    if (!sent.ok) return { ...sent, of: "connection" };
  }
  const lagMs = brokerOf(from.target).migrating?.countsLagMs ?? 0;
  const gate = gateBehind(from, going.steps, going.phase, lagMs);
  if (gate === null) return complete(run);
  const shut = await waitAt(run, gate);
  if (shut !== null) return shut;
  const next = { ...going, phase: going.phase + 1, since: new Date().toISOString() };
  await save(run, next);
  if (options.apply === true) return goOn({ ...run, going: next });
  return {
    exitCode: exitCodes.fine,
    state: "deploy",
    lines: [
      `${number} has ended: its queues are empty`,
      ...deployLines(run, next.phase),
      `${place.file} says so. Commit it.`,
    ],
  };
}

function deployLines({ going: { steps }, options, place }: Run, phase: number): readonly string[] {
  const where = options.output === undefined ? `${place.file} has its declaration` : `${options.output} has its files`;
  return [`deploy step ${phase + 1} of ${steps.length} now: ${where}`, "then run redeliver migrate --next again"];
}

function toDeploy(run: Run, number: string, { left }: StepSeen): End {
  const inTheWay = left.map(({ text }) => visible(text));
  return {
    exitCode: exitCodes.incomplete,
    state: "deploy",
    inTheWay,
    lines: [
      `${number} is not deployed: the deployment is still to`,
      ...inTheWay.slice(0, 5).map((text) => `  ${text}`),
      ...(left.length > 5 ? [`  and ${left.length - 5} more`] : []),
      ...deployLines(run, run.going.phase),
    ],
  };
}

/** The last step is deployed. The lock says so, and the migration is over. */
async function complete({ place, going, options }: Run): Promise<End> {
  const last = going.steps.at(-1) as Deployed;
  const old = loadLock(place.file);
  const lock = lockWith(old?.ok === true ? old.value : null, place.environment, last, ownVersion(), going.asked);
  if (!lock.ok) return lock;
  await writeLock(place.file, lock.value);
  await writeStep(options.output, last);
  return {
    exitCode: exitCodes.fine,
    state: "done",
    lines: [`the migration of ${place.environment} is complete`, ...namesIn(last), `${place.file} says so. Commit it.`],
  };
}

function namesIn({ system }: Deployed): readonly string[] {
  const named = Object.entries(system.consumers).filter(([, { queue }]) => queue !== undefined);
  if (named.length === 0) return [];
  const lines = named.map(([consumer, { queue = "" }]) => `  ${visible(consumer)}: queue: ${visible(queue)}`);
  return ["these names of queues belong into your declaration:", ...lines];
}

async function save({ place, options }: Pick<Run, "place" | "options">, going: Going): Promise<void> {
  const lock = loadLock(place.file);
  if (lock?.ok !== true) throw new Error("the lock was read before");
  await writeLock(place.file, withGoing(lock.value, place.environment, going));
  await writeStep(options.output, going.steps[going.phase] as Deployed);
}

/** Compares the broker with the present step, and refuses differences that it does not explain. */
async function look({ source, from, going }: Omit<Run, "wanted">): Promise<StepSeen | Refusal> {
  const to = going.steps[going.phase] as Deployed;
  const before = going.phase === 0 ? from : (going.steps[going.phase - 1] as Deployed);
  const found = await settled(
    source,
    from.target,
    (deployment) => seeStep(deployment, before, to),
    ({ strange }) => strange,
  );
  if (!found.ok) return { ...found, of: "connection" };
  const { result, drift } = found.value;
  const judged = judgeDrift(drift).filter(({ effect }) => effect !== "harmless");
  const words = { ...againstBroker, help: "mend the broker, and run the same command again: it goes on from here" };
  const diagnostics = [...driftDiagnostics(judged, words), ...otherDiagnostics(drift)];
  return diagnostics.length > 0 ? { diagnostics, of: "broker" } : result;
}

/** Watches the queues of a gate. Null if it is open, or the end of the run if it stays shut. */
async function waitAt({ source, options, from }: Run, gate: Gate): Promise<End | null> {
  const reader = brokerOf(from.target).migrating?.reader;
  const startedMs = performance.now();
  let saidMs = startedMs;
  let observed: Observed | null = null;
  for (;;) {
    const found = await readSource({ ...source, live: reader as never });
    if (!found.ok) return { ...found, of: "connection" };
    const nowMs = performance.now();
    observed = observe(gate, found.value[0]?.deployment as readonly WatchedQueue[], observed, nowMs);
    if (isOpen(gate, observed, nowMs)) return null;
    const quiet = isQuiet(gate, observed, nowMs);
    const inTheWay = [...observed.messages, ...(quiet || observed.messages.length > 0 ? observed.consumers : [])];
    if (inTheWay.length > 0 && nowMs - startedMs >= (options.wait ?? 0)) return shut(inTheWay, quiet);
    if (nowMs - saidMs >= progressMs) {
      saidMs = nowMs;
      const sure = `the queues are empty; that has to last for ${formatDurationMs(gate.quietMs)}`;
      writeError(`redeliver: waiting: ${visible(inTheWay[0] ?? sure)}\n`);
    }
    await setTimeout(betweenLooksMs);
  }
}

const betweenLooksMs = 1_000;
const progressMs = 5_000;

function shut(inTheWay: readonly string[], isQuiet: boolean): End {
  const help = isQuiet
    ? "the queues are empty, so stop the code that drains, and run the same command again"
    : "run the new code, and the old code under the names that drain. Then run the same command again";
  return {
    exitCode: exitCodes.incomplete,
    state: "wait",
    inTheWay,
    lines: ["not yet:", ...inTheWay.map((each) => `  ${visible(each)}`), help],
  };
}

function refusal(code: DiagnosticCode, message: string, help: string): Refusal {
  return { diagnostics: [diagnostic(code, { path: "", message, help })] };
}
