import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

import type { PeerFigure } from "./peers.ts";
import { benchPulumi, describePulumiBench } from "./pulumi.ts";

// Machines differ, so every figure is a ratio or a pair measured in one run. Nothing here is a test: nothing fails.
// `node bench/main.ts [compile] [verify] [change] [audit] [simulate] [start] [consume] [dead] [peers] [policy] [pulumi]` runs the named parts,
// or all of them. `faults` takes half an hour, and `scale` needs `pulumi` on PATH: both run only by name.

const root = resolve(import.meta.dirname, "..");

interface CompileFigure {
  readonly consumers: number;
  readonly durationMs: number;
  /** Includes the proof that `compile` makes. */
  readonly provedMs?: number;
  readonly peakMb: number;
}

/** Runs one size in its own process, so that its memory does not burden the next. */
function measure(script: "compile", consumers: number, target: string): CompileFigure {
  const child = spawnSync(
    process.execPath,
    ["--max-old-space-size=16000", resolve(root, `bench/${script}.ts`), String(consumers), target],
    { encoding: "utf8" },
  );
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout) as CompileFigure;
}

function benchCompile(strategy: string, target: string): void {
  console.log(`plan + compile, 5 attempts each, strategy ${strategy} on ${target} (best of 3)`);
  const figures = [1_000, 10_000, 100_000].map((consumers) => {
    const runs = Array.from({ length: 3 }, () => measure("compile", consumers, target));
    return runs.toSorted((a, b) => a.durationMs - b.durationMs)[0] as CompileFigure;
  });
  const perConsumer = (figure: CompileFigure | undefined): number =>
    ((figure?.durationMs ?? 0) / (figure?.consumers ?? 1)) * 1_000;
  for (const figure of figures) {
    console.log(
      `  ${String(figure.consumers).padStart(7)} consumers: ${figure.durationMs.toFixed(0)} ms, with the proof ${(figure.provedMs ?? 0).toFixed(0)} ms, ${figure.peakMb.toFixed(0)} MB at the peak, ${perConsumer(figure).toFixed(1)} µs each`,
    );
  }
  console.log(
    `  per consumer, 100 000 against 1 000: ${(perConsumer(figures[2]) / perConsumer(figures[0])).toFixed(2)}`,
  );
}

function run<Result>(script: string, ...words: readonly string[]): Result {
  const child = spawnSync(process.execPath, [resolve(root, `bench/${script}.ts`), ...words], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout) as Result;
}

interface AttemptsFigure {
  readonly attempts: number;
  readonly states: number;
  readonly durationMs: number;
}

function benchVerify(): void {
  console.log("proof, 5 attempts each, strategy staged on 4.3");
  for (const [what, consumers] of [
    ["each", 1],
    ["each", 1_000],
    ["all", 1_000],
    ["all", 10_000],
  ] as const) {
    const { durationMs, peakMb } = run<CompileFigure>("verify", what, String(consumers));
    const how = what === "each" ? "each by itself" : "one for all that differ in names alone";
    console.log(
      `  ${String(consumers).padStart(7)} consumers, ${how}: ${durationMs.toFixed(1)} ms, ${peakMb.toFixed(0)} MB at the peak, ${(durationMs / consumers).toFixed(3)} ms each`,
    );
  }
  for (const [target, strategy] of [
    ["sqs@eu-west-1", "visibility"],
    ["servicebus@standard", "scheduled"],
  ] as const) {
    const { durationMs, peakMb } = run<CompileFigure>("verify", "each", "1000", target);
    console.log(
      `     1000 consumers on ${target}, strategy ${strategy}, each by itself: ${durationMs.toFixed(1)} ms, ${peakMb.toFixed(0)} MB at the peak`,
    );
  }
  for (const target of ["rabbitmq@4.3", "rabbitmq@3.10", "servicebus@standard"]) {
    const [few, many] = run<AttemptsFigure[]>("verify", "attempts", "1", target);
    if (few === undefined || many === undefined) throw new Error("two sizes were asked for");
    const ratio = (of: (figure: AttemptsFigure) => number): string =>
      (of(many) / of(few) / (many.attempts / few.attempts)).toFixed(2);
    console.log(
      `  ${many.attempts} attempts without a crash budget on ${target}: ${many.durationMs.toFixed(0)} ms, ${many.states} states; for each attempt ${ratio(({ durationMs }) => durationMs)} times the time and ${ratio(({ states }) => states)} times the states of ${few.attempts}`,
    );
  }
  const states = Object.entries(run<Record<string, number>>("verify", "states"));
  console.log(`  states of one message: ${states.map(([strategy, number]) => `${strategy} ${number}`).join(", ")}`);
}

function benchChange(): void {
  console.log("plan and proof of a change, RabbitMQ 4.3, from native to waits");
  for (const moving of ["1", "100", "1000"]) {
    const { consumers, moved, durationMs } = run<{ consumers: number; moved: number; durationMs: number }>(
      "change",
      moving,
    );
    console.log(`  ${moved} of ${consumers} consumers get new queues: ${durationMs.toFixed(0)} ms`);
  }
}

function benchAudit(): void {
  const { queues, durationMs, peakMb, findings } = run<CompileFigure & { queues: number; findings: number }>(
    "audit",
    "20000",
  );
  console.log(
    `audit of a definitions file of ${queues} queues: ${durationMs.toFixed(0)} ms, ${peakMb.toFixed(0)} MB at the peak, ${findings} findings`,
  );
}

function benchSimulate(): void {
  const child = spawnSync(process.execPath, [resolve(root, "bench/simulate.ts")], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  console.log("simulation of three consumers with an outage, strategies staged, native and waits on 4.3");
  for (const line of child.stdout.trim().split("\n")) {
    const { messages, events, eventsPerSecond, peakMb } = JSON.parse(line) as Record<string, number>;
    console.log(
      `  ${String(messages).padStart(9)} messages: ${events} events, ${Math.round(eventsPerSecond ?? 0)} a second, ${Math.round(peakMb ?? 0)} MB at the peak`,
    );
  }
}

interface StartFigure {
  readonly wallMs: number;
  readonly processorMs: number;
}

function benchStart(): void {
  const { rounds, nothing, over } = run<{
    readonly rounds: number;
    readonly nothing: StartFigure;
    readonly over: readonly (StartFigure & { readonly name: string })[];
  }>("start");
  const describe = ({ wallMs, processorMs }: StartFigure): string =>
    `${wallMs.toFixed(0)} ms, ${processorMs.toFixed(0)} ms of the processor`;
  console.log(
    `redeliver compile of a small file, installed package, over node -e 0 (${describe(nothing)}), ${rounds} rounds:`,
  );
  for (const figure of over) console.log(`  ${figure.name}: ${describe(figure)}`);
}

interface ConsumePair {
  readonly hand: { readonly perSecond: number; readonly cpuMicroseconds: number };
  readonly own: { readonly perSecond: number; readonly cpuMicroseconds: number };
}

interface PolicyRun {
  readonly eachMs: number;
  readonly stackMs: number;
  readonly hostMs: number | null;
  readonly violations: number;
}

function benchPolicy(): void {
  const { resources, judged, protocol } = run<{
    readonly resources: number;
    readonly judged: PolicyRun;
    readonly protocol: PolicyRun;
  }>("policy", "5000");
  const describe = ({ eachMs, stackMs, hostMs }: PolicyRun): string =>
    `one by one ${eachMs.toFixed(0)} ms, together ${stackMs.toFixed(0)} ms${hostMs === null ? "" : `, ${hostMs} ms of the processor for the host`}`;
  console.log(
    `the policy pack in Pulumi's host, everything mandatory, ${resources} resources: ${describe(judged)}, ${judged.violations} violations; the protocol alone: ${describe(protocol)}`,
  );
}

/** Starts a broker in Docker, or uses that of RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL. */
function benchConsume(): void {
  const { messages, acks, retries } = run<{
    readonly messages: number;
    readonly acks: readonly ConsumePair[];
    readonly retries: Readonly<Record<string, readonly ConsumePair[]>>;
  }>("consume");
  const describe = (what: string, pairs: readonly ConsumePair[]): string => {
    const median = (of: (pair: ConsumePair) => number): number =>
      pairs.map(of).toSorted((a, b) => a - b)[Math.floor(pairs.length / 2)] ?? 0;
    const [own, hand] = [median((pair) => pair.own.perSecond), median((pair) => pair.hand.perSecond)];
    const ratio = median((pair) => pair.own.perSecond / pair.hand.perSecond);
    const cpu = median((pair) => pair.own.cpuMicroseconds / pair.hand.cpuMicroseconds);
    return `  ${what}: ${own.toFixed(0)} a second, ${hand.toFixed(0)} by hand; ${ratio.toFixed(2)} times, with ${cpu.toFixed(2)} times the processor, median of ${pairs.length} pairs`;
  };
  console.log(`consume, RabbitMQ 4.3, ${messages} messages, 100 at a time`);
  console.log(describe("acknowledged", acks));
  console.log(
    "  retries beside a hand-written consumer that publishes a copy with confirm, four attempts for each message:",
  );
  for (const [strategy, pairs] of Object.entries(retries)) console.log(`  ${describe(strategy, pairs)}`);
}

/** Starts a broker in Docker. The first row is the peer that the ratios compare with. */
function benchPeers(): void {
  const { messages, figures } = run<{
    readonly messages: number;
    readonly figures: Readonly<Record<string, readonly PeerFigure[]>>;
  }>("peers");
  console.log(`retries of ${messages} messages after a second, three for each, beside peers on RabbitMQ 4.3;`);
  console.log("  medians of ratios to the first row, times after the due time in milliseconds, and sums of faults:");
  const [hand] = Object.values(figures);
  for (const [name, own] of Object.entries(figures)) {
    const median = (of: (figure: PeerFigure, round: number) => number): number =>
      own.map(of).toSorted((a, b) => a - b)[Math.floor(own.length / 2)] ?? 0;
    const ratio = (of: (figure: PeerFigure) => number): string =>
      median((figure, round) => of(figure) / of(hand?.[round] as PeerFigure)).toFixed(2);
    const sum = (of: (figure: PeerFigure) => number): number => own.reduce((total, figure) => total + of(figure), 0);
    const late = [median(({ lateMs }) => lateMs.p50), median(({ lateMs }) => lateMs.p99)];
    console.log(
      `  ${name}: ${ratio(({ perSecond }) => perSecond)} times the retries a second, with ${ratio(({ clientMicroseconds }) => clientMicroseconds)} times the client's processor and ${ratio(({ brokerMicroseconds }) => brokerMicroseconds)} times the broker's; late p50 ${late[0]?.toFixed(0)}, p99 ${late[1]?.toFixed(0)}; early ${sum(({ early }) => early)}, lost ${sum(({ lost }) => lost)}, doubled ${sum(({ doubled }) => doubled)}`,
    );
  }
}

/** Starts a broker in Docker, or uses that of RABBITMQ_URL and RABBITMQ_MANAGEMENT_URL. */
function benchDead(): void {
  spawnSync(process.execPath, [resolve(root, "bench/dead.ts")], { stdio: "inherit" });
}

const wanted = process.argv.slice(2);
const isWanted = (part: string): boolean => wanted.length === 0 || wanted.includes(part);
if (isWanted("compile")) {
  benchCompile("staged", "rabbitmq@4.3");
  benchCompile("visibility", "sqs@eu-west-1");
}
if (isWanted("verify")) benchVerify();
if (isWanted("change")) benchChange();
if (isWanted("audit")) benchAudit();
if (isWanted("simulate")) benchSimulate();
if (isWanted("start")) benchStart();
if (isWanted("consume")) benchConsume();
if (isWanted("dead")) benchDead();
if (isWanted("peers")) benchPeers();
if (isWanted("policy")) benchPolicy();
if (wanted.includes("faults"))
  for (const version of ["4.3", "4.0"])
    spawnSync(process.execPath, [resolve(root, "bench/faults.ts"), version], { stdio: "inherit" });
if (wanted.includes("scale"))
  for (const consumers of ["100", "300", "1000"])
    spawnSync(process.execPath, [resolve(root, "bench/scale.ts"), consumers], {
      stdio: "inherit",
      env: { ...process.env, PULUMI_EXPERIMENTAL: "true", PULUMI_SKIP_CHECKPOINTS: "true" },
    });
if (isWanted("pulumi")) console.log(describePulumiBench(await benchPulumi(1_000, 3)));
