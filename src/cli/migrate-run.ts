import { setTimeout } from "node:timers/promises";

import { brokerOf } from "../brokers/index.ts";
import type { Watched } from "../brokers/migrating.ts";
import { formatDurationMs } from "../declare/duration.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { type Diagnostic, accepted, diagnostic } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Changed, Deployed } from "../migrate/deployed.ts";
import { type Gate, type Observed, gateBehind, isOpen, isQuiet, observe } from "../migrate/gate.ts";
import { againstBroker, driftDiagnostics, judgeDrift, otherDiagnostics } from "../migrate/judge-drift.ts";
import { type StepSeen, seeStep } from "../migrate/judge-step.ts";
import { instancesAt } from "../migrate/leave-sources.ts";
import { type Going, type Lock, lockWith, withGoing } from "../migrate/lock.ts";
import { type AuditSource, changeSource, readSource } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import { type LockPlace, loadLock, writeLock } from "./lock-file.ts";
import type { MigrateOptions } from "./migrate.ts";
import { writeError } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { settled } from "./settled.ts";
import { writeStep } from "./write-step.ts";

type Live = Extract<AuditSource, { readonly kind: "live" }>;

/** Everything that a run needs. Only `going` changes. */
export interface Run {
  readonly place: LockPlace;
  readonly source: Live;
  readonly options: MigrateOptions;
  readonly from: Deployed;
  readonly wanted: Changed;
  readonly going: Going;
}

/** The end of a run: an exit code and the facts, or the reasons of a refusal. */
export type End = Ended | { readonly usage: string } | Refusal;

interface Ended {
  readonly exitCode: number;
  readonly state: "deploy" | "wait" | "done";
  readonly lines: readonly string[];
  /** The changes that are left to make, or the messages and consumers at a gate. */
  readonly inTheWay?: readonly string[];
}

export interface Refusal {
  readonly diagnostics: readonly Diagnostic[];
  /** Left out if the lock is the reason: a broker that differs, one that gives no answer, or a weaker promise. */
  readonly of?: "broker" | "connection" | "declaration";
}

/** Goes through the steps until one has to wait. */
export async function goOn(run: Run): Promise<End> {
  const { options, from, going, place } = run;
  const number = numberOf(run);
  const deployed = await deployStep(run);
  if (deployed.end !== null) return deployed.end;
  const lagMs = brokerOf(from.target).migrating?.countsLagMs ?? 0;
  if (going.phase === going.steps.length - 1) return complete(run);
  const gate = gateBehind(from, going.steps, going.phase, lagMs);
  // Nobody can have moved to a source that did not exist when the command was written.
  const haveMoved = options.publishersMoved === true && !deployed.isNew;
  const shut = gate === null ? null : await waitAt(run, gate, haveMoved);
  if (shut !== null) return shut;
  const next = { ...going, phase: going.phase + 1, since: new Date().toISOString() };
  await save(run, next);
  if (options.apply === true) return goOn({ ...run, going: next });
  return {
    exitCode: exitCodes.fine,
    state: "deploy",
    lines: [
      `${number} has ended${gate === null || gate.drained.length === 0 ? "" : ": its queues are empty"}`,
      ...deployLines(run, next.phase),
      `${place.file} says so. Commit it.`,
    ],
  };
}

/** Makes the changes of the present step. The end is null if all are made. `isNew` says that this run made some. */
export async function deployStep(run: Run): Promise<{ readonly end: End | null; readonly isNew: boolean }> {
  const number = numberOf(run);
  for (let tries = 0; ; tries++) {
    const seen = await look(run);
    const isNew = tries > 0;
    if ("diagnostics" in seen) return { end: seen, isNew };
    if (seen.tooOld !== null) return { end: beforeUpgrade(run, seen.tooOld), isNew };
    if (seen.left.length === 0) return { end: null, isNew };
    if (run.options.apply !== true) return { end: toDeploy(run, number, seen), isNew };
    if (tries > 1) {
      const message = `${number}: the broker accepted to ${seen.left[0]?.text}, and has not done it`;
      return { end: { ...refusal("RD311", message, againstBroker.help), of: "broker" }, isNew };
    }
    const sent = await changeSource(run.source, seen.requests ?? [], (text) =>
      writeError(`redeliver: ${number}: ${visible(text)}\n`),
    );
    if (!sent.ok) return { end: { ...sent, of: "connection" }, isNew };
  }
}

/** The old topology runs on the newer broker. An older broker would ignore settings of the new one, or refuse them. */
function beforeUpgrade({ going: { phase, steps } }: Run, found: string): End {
  const { target } = steps[phase] as Deployed;
  const wanted = brokerOf(target).formatTarget(target);
  return shut(
    [`the broker is ${found}, and this step needs ${wanted}`],
    "upgrade the broker, and leave everything on it as it is. Then run the same command again",
  );
}

function numberOf({ going: { phase, steps, back } }: Run): string {
  return `step ${phase + 1} of ${steps.length}${back === true ? " back" : ""}`;
}

function deployLines(run: Run, phase: number): readonly string[] {
  const { going, options, place } = run;
  const where = options.output === undefined ? `${place.file} has its declaration` : `${options.output} has its files`;
  return [
    `deploy step ${phase + 1} of ${going.steps.length} now: ${where}`,
    ...heldLines(run, phase),
    "then run the same command again",
  ];
}

/** The code of consumers in order starts behind the gate. */
function heldLines({ from, going: { steps } }: Run, phase: number): readonly string[] {
  const { held = [] } = gateBehind(from, steps, 0, 0) ?? {};
  if (held.length === 0 || phase > 1) return [];
  const queues = visible(held.join(", "));
  return phase === 0
    ? [`do not yet start code that takes from ${queues}: messages there have to wait for earlier ones`]
    : [`start the code that takes from ${queues}: earlier messages are handled`];
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

export function namesIn({ system }: Deployed): readonly string[] {
  const lines = [
    ...Object.entries(system.sources).flatMap(([key, { name }]) =>
      name === undefined ? [] : `  ${visible(key)}: name: ${visible(name)}`,
    ),
    ...Object.entries(system.consumers).flatMap(([key, { queue, deadLetter }]) => [
      ...(queue === undefined ? [] : [`  ${visible(key)}: queue: ${visible(queue)}`]),
      ...(deadLetter?.queue === undefined
        ? []
        : [`  ${visible(key)}: deadLetter: queue: ${visible(deadLetter.queue)}`]),
    ]),
  ];
  return lines.length === 0 ? [] : ["these names belong into your declaration:", ...lines];
}

/** @param known the lock, if it is to have another deployed system as well */
export async function save(
  { place, options }: Pick<Run, "place" | "options">,
  going: Going,
  known?: Lock,
): Promise<void> {
  const lock = known === undefined ? loadLock(place.file) : accepted(known);
  if (lock?.ok !== true) throw new Error("the lock was read before");
  await writeLock(place.file, withGoing(lock.value, place.environment, going));
  await writeStep(options.output, going.steps[going.phase] as Deployed);
}

/** Compares the broker with the present step, and refuses differences that it does not explain. */
export async function look({ source, from, going }: Omit<Run, "wanted">): Promise<StepSeen | Refusal> {
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
  const unread = drift.unread.filter((text) => !result.mended.includes(text));
  const diagnostics = [...driftDiagnostics(judged, words), ...otherDiagnostics({ ...drift, unread })];
  return diagnostics.length > 0 ? { diagnostics, of: "broker" } : result;
}

/** Watches the queues of a gate. Null if it is open, or the end of the run if it stays shut. */
async function waitAt({ source, options, from, going }: Run, gate: Gate, haveMoved: boolean): Promise<End | null> {
  if (gate.left.length > 0 && !haveMoved) return unmoved(gate.left, going.steps[0] as Deployed);
  const reader = brokerOf(from.target).migrating?.reader;
  const startedMs = performance.now();
  let saidMs = startedMs;
  let observed: Observed | null = null;
  for (;;) {
    const found = await readSource({ ...source, live: reader as never });
    if (!found.ok) return { ...found, of: "connection" };
    const nowMs = performance.now();
    observed = observe(gate, found.value[0]?.deployment as readonly Watched[], observed, nowMs);
    if (isOpen(gate, observed, nowMs)) return null;
    const quiet = isQuiet(gate, observed, nowMs);
    const inTheWay = [...observed.messages, ...(quiet || observed.messages.length > 0 ? observed.consumers : [])];
    if (inTheWay.length > 0 && nowMs - startedMs >= (options.wait ?? 0)) return shut(inTheWay, helpAt(gate, quiet));
    if (nowMs - saidMs >= progressMs) {
      saidMs = nowMs;
      const sure = `nothing moves; that has to last for ${formatDurationMs(gate.quietMs)}`;
      writeError(`redeliver: waiting: ${visible(inTheWay[0] ?? sure)}\n`);
    }
    await setTimeout(gate.aloneMs / looksInLag);
  }
}

/** A count costs a broker time, and shows nothing new within its lag. */
const looksInLag = 10;
const progressMs = 5_000;

function helpAt({ drained, left, held }: Gate, isQuiet: boolean): string {
  if (isQuiet) return "the queues are empty, so stop the code that drains, and run the same command again";
  const newCode = held.length === 0 ? "the new code, and " : "";
  const what = [
    ...(left.length === 0 ? [] : ["move the publishers"]),
    ...(drained.length === 0 ? [] : [`run ${newCode}the old code under the names that drain`]),
  ];
  return `${what.join("; ")}. Then run the same command again`;
}

function shut(inTheWay: readonly string[], help: string): End {
  return {
    exitCode: exitCodes.incomplete,
    state: "wait",
    inTheWay,
    lines: ["not yet:", ...inTheWay.map((each) => `  ${visible(each)}`), help],
  };
}

/** A program that publishes once a day is in no count. So a person has to know. */
function unmoved(sources: readonly string[], step: Deployed): End {
  const alone = instancesAt(sources, step);
  const restart = alone.length === 0 ? "" : `Restart the instances of ${visible(alone.join(", "))} by this step. `;
  return shut(
    sources.map((name) => `programs may still publish to ${name}`),
    `consumers take from the old sources and the new ones. ${restart}Move the publishers, and then run the same command with --publishers-moved`,
  );
}

export function refusal(code: DiagnosticCode, message: string, help: string): Refusal {
  return { diagnostics: [diagnostic(code, { path: "", message, help })] };
}
