import { setTimeout } from "node:timers/promises";

import { brokerOf } from "../brokers/index.ts";
import type { Watched } from "../brokers/migrating.ts";
import { formatDurationMs } from "../declare/duration.ts";
import { accepted } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Deployed } from "../migrate/deployed.ts";
import { type Gate, type Observed, gateBehind, isOpen, isQuiet, observe } from "../migrate/gate.ts";
import { instancesAt } from "../migrate/leave-sources.ts";
import { type Going, type Lock, lockWith, withGoing } from "../migrate/lock.ts";
import { readSource } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadLock, writeLock } from "./lock-file.ts";
import { type End, type Run, deployLines, deployStep, numberOf, shut } from "./migrate-step.ts";
import { writeError } from "./output.ts";
import { ownVersion } from "./read-packaged.ts";
import { writeStep } from "./write-step.ts";

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

/** A program that publishes once a day is in no count. So a person has to know. */
function unmoved(sources: readonly string[], step: Deployed): End {
  const alone = instancesAt(sources, step);
  const restart = alone.length === 0 ? "" : `Restart the instances of ${visible(alone.join(", "))} by this step. `;
  return shut(
    sources.map((name) => `programs may still publish to ${name}`),
    `consumers take from the old sources and the new ones. ${restart}Move the publishers, and then run the same command with --publishers-moved`,
  );
}
