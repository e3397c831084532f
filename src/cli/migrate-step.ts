import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";

import { brokerOf } from "../brokers/index.ts";
import type { ChangeRequest } from "../brokers/migrating.ts";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import { type Checked, type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import type { Changed, Deployed } from "../migrate/deployed.ts";
import { gateBehind } from "../migrate/gate.ts";
import { againstBroker, driftDiagnostics, judgeDrift, otherDiagnostics } from "../migrate/judge-drift.ts";
import { type StepSeen, seeStep } from "../migrate/judge-step.ts";
import type { Going } from "../migrate/lock.ts";
import { type AuditSource, changeSource } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import type { LockPlace } from "./lock-file.ts";
import type { MigrateOptions } from "./migrate.ts";
import { writeError } from "./output.ts";
import { settled } from "./settled.ts";

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

/** Makes the changes of the present step. The end is null if all are made. `isNew` says that this run made some. */
export async function deployStep(run: Run): Promise<{ readonly end: End | null; readonly isNew: boolean }> {
  const seen = await look(run);
  const first = judge(run, seen);
  const claim = "diagnostics" in seen || run.options.apply !== true ? null : seen.claimOf(holderOf(run.place));
  const quietly = async (request: ChangeRequest): Promise<Checked<null>> =>
    changeSource(run.source, [request], () => undefined);
  if ("end" in first) {
    // A run that was killed behind its last change has left its claim.
    if (claim?.isHeld === true) await quietly(claim.release);
    return { ...first, isNew: false };
  }
  if (claim === null) throw new Error("a broker that can be changed can be claimed");
  const claimed = await quietly(claim.take);
  if (!claimed.ok) return { end: unsent(claimed), isNew: false };
  const end = await changeBroker(run, async () => quietly(claim.take));
  await quietly(claim.release);
  return { end, isNew: true };
}

/** A process that goes on after a kill is the same holder. The file that it holds excludes others of this machine. */
function holderOf({ file, environment }: LockPlace): number {
  const digest = createHash("sha256")
    .update(`${hostname()} ${resolve(file)}#${environment}`)
    .digest();
  return digest.readUInt32BE(0) >>> 1;
}

/** Says how the run ends at this sight of the broker, or what it has to change. */
function judge(run: Run, seen: StepSeen | Refusal): { readonly end: End | null } | { readonly toChange: StepSeen } {
  if ("diagnostics" in seen) return { end: seen };
  if (seen.tooOld !== null) return { end: beforeUpgrade(run, seen.tooOld) };
  if (seen.left.length === 0) return { end: null };
  return run.options.apply === true ? { toChange: seen } : { end: toDeploy(run, numberOf(run), seen) };
}

/** A claim lasts for five minutes, and a request for one at most. */
const renewedAfter = 4;

/** Looks again first, because another machine may have been at work before this one had the claim. */
async function changeBroker(run: Run, renew: () => Promise<Checked<null>>): Promise<End | null> {
  const say = (text: string): void => writeError(`redeliver: ${numberOf(run)}: ${visible(text)}\n`);
  for (let tries = 0; ; tries++) {
    const judged = judge(run, await look(run));
    if ("end" in judged) return judged.end;
    const { left, requests } = judged.toChange;
    if (tries > 1) {
      const message = `${numberOf(run)}: the broker accepted to ${left[0]?.text}, and has not done it`;
      return { ...refusal("RD311", message, againstBroker.help), of: "broker" };
    }
    const rest = [...(requests ?? [])];
    while (rest.length > 0) {
      const renewed = await renew();
      const sent = renewed.ok ? await changeSource(run.source, rest.splice(0, renewedAfter), say) : renewed;
      if (!sent.ok) return unsent(sent);
    }
  }
}

function unsent({ diagnostics }: Refusal): End {
  return { diagnostics, of: diagnostics.some(({ code }) => code === "RD307") ? "broker" : "connection" };
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

export function numberOf({ going: { phase, steps, back } }: Run): string {
  return `step ${phase + 1} of ${steps.length}${back === true ? " back" : ""}`;
}

export function deployLines(run: Run, phase: number): readonly string[] {
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

export function shut(inTheWay: readonly string[], help: string): End {
  return {
    exitCode: exitCodes.incomplete,
    state: "wait",
    inTheWay,
    lines: ["not yet:", ...inTheWay.map((each) => `  ${visible(each)}`), help],
  };
}

export function refusal(code: DiagnosticCode, message: string, help: string): Refusal {
  return { diagnostics: [diagnostic(code, { path: "", message, help })] };
}
