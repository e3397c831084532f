import { distance } from "../../../diagnostics/distance.ts";

import {
  type Duration,
  asDuration,
  durationPattern,
  formatDurationMs,
  parseDurationMs,
} from "../../../declare/duration.ts";
import { type Checked, type Diagnostic, accepted, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { misfit, unknownOptions, unknownStrategy, unknownTarget } from "../../../contract/shared-problems.ts";
import type { ServicebusTarget, Sku, StrategyName } from "./capabilities.ts";
import { servicebusDefaults, servicebusLimits, skuNames, skus, strategyNames } from "./capabilities.ts";
import { diagnoseDeadQueue } from "../../../contract/shared-dead-queue.ts";
import {
  type TargetSide,
  diagnoseStrategies,
  strategiesUnder,
  withOwnStrategy,
} from "../../../contract/own-strategy.ts";
import { wordOf } from "../../../diagnostics/word-of.ts";

/** A target as a person writes it, in code or in the configuration of a stack. */
export interface ServicebusTargetInput {
  readonly broker: "servicebus";
  /** The tier: `"basic"`, `"standard"` or `"premium"`. */
  readonly sku: string;
  readonly strategy?: "auto" | StrategyName | undefined;
  /** By consumer: a strategy of its own. All others have `strategy`. */
  readonly strategies?: Readonly<Record<string, "auto" | StrategyName>> | undefined;
  /**
   * The time that a receiver holds a delivery alone without renewal, and so the wait after a crash. The default is 1m.
   */
  readonly lock?: Duration | undefined;
  /**
   * Duplicate detection of the work queues: the time that they remember the ids of messages. A mapping has a time for each
   * consumer that wants one. Left out for none.
   */
  readonly duplicates?: Duration | Readonly<Record<string, Duration>> | undefined;
  /** `shared`: one queue of the system receives all dead letters by forwarding. */
  readonly deadQueue?: ServicebusTarget["deadQueue"] | undefined;
}

/** Reads the name of a tier, and of a strategy. */
export function parseServicebusTarget(sku: string, strategy?: string): Checked<ServicebusTarget> {
  return checkServicebusTarget({ broker: "servicebus", sku, strategy: strategy as StrategyName | undefined });
}

/** Checks a target that is data. A target that was checked before comes back as it is. */
export function checkServicebusTarget(input: ServicebusTargetInput | ServicebusTarget): Checked<ServicebusTarget> {
  if ("lockMs" in input) return checkServicebusTarget(asWritten(input));
  const sku = skuNames.find((each) => each === input.sku);
  const { strategy = "auto", strategies, deadQueue = "own" } = input;
  const diagnostics = [
    ...unknownOptions(["target"], "option of a target for Service Bus", input, optionNames),
    // The type requires a tier, but a target from a file may have none.
    ...(sku === undefined ? [noSku(wordOf(input.sku ?? ""))] : []),
    ...unknownStrategy("Service Bus", strategy, strategyNames),
    ...diagnoseStrategies("Service Bus", strategies, strategyNames),
    ...diagnoseDeadQueue("Service Bus", deadQueue),
    ...lockProblem(input.lock),
    ...(sku === undefined ? [] : tierProblems(sku, input)),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return accepted(
    Object.freeze({
      broker: "servicebus",
      sku: sku as Sku,
      strategy,
      ...(strategies === undefined ? {} : { strategies: Object.freeze({ ...strategies }) }),
      lockMs: input.lock === undefined ? servicebusDefaults.lockMs : parseDurationMs(input.lock),
      ...detectionOf(input.duplicates),
      deadQueue,
    }),
  );
}

/**
 * Writes a checked target as a person would. A stack may have changed the target that it remembers, and settings beside
 * the checked ones win.
 */
export function asWritten({
  lockMs,
  duplicateDetectionMs,
  ownDuplicateDetectionMs,
  ...rest
}: ServicebusTarget): ServicebusTargetInput {
  return {
    lock: asDuration(lockMs),
    ...(duplicateDetectionMs === null ? {} : { duplicates: asDuration(duplicateDetectionMs) }),
    ...(ownDuplicateDetectionMs && { duplicates: mapped(ownDuplicateDetectionMs, asDuration) }),
    ...rest,
  };
}

function mapped<From, To>(all: Readonly<Record<string, From>>, to: (one: From) => To): Readonly<Record<string, To>> {
  return Object.freeze(Object.fromEntries(Object.entries(all).map(([consumer, one]) => [consumer, to(one)])));
}

function detectionOf(
  duplicates: ServicebusTargetInput["duplicates"],
): Pick<ServicebusTarget, "duplicateDetectionMs" | "ownDuplicateDetectionMs"> {
  if (duplicates === undefined) return { duplicateDetectionMs: null };
  return typeof duplicates === "string"
    ? { duplicateDetectionMs: parseDurationMs(duplicates) }
    : { duplicateDetectionMs: null, ownDuplicateDetectionMs: mapped(duplicates, parseDurationMs) };
}

/** The target of one consumer, without the settings of others. */
export function targetForConsumer(target: ServicebusTarget, consumer: string): ServicebusTarget {
  const { ownDuplicateDetectionMs: own, ...rest } = withOwnStrategy(target, consumer);
  if (own === undefined) return rest;
  return { ...rest, duplicateDetectionMs: Object.hasOwn(own, consumer) ? (own[consumer] ?? null) : null };
}

/** The target with the settings of single consumers under other names. */
export function targetUnderNames(target: ServicebusTarget, nameOf: (consumer: string) => string): ServicebusTarget {
  const named = strategiesUnder(target, nameOf);
  const own = target.ownDuplicateDetectionMs;
  if (own === undefined) return named;
  const renamed = Object.entries(own).map(([consumer, timeMs]) => [nameOf(consumer), timeMs] as const);
  return { ...named, ownDuplicateDetectionMs: Object.fromEntries(renamed) };
}

/** The target for old consumers beside new ones. A queue detects duplicates as long as it exists, or never. */
export function targetBeside(
  beside: ServicebusTarget,
  sides: readonly TargetSide<ServicebusTarget>[],
): ServicebusTarget {
  const { ownDuplicateDetectionMs: _, ...rest } = beside;
  const times = sides.flatMap(({ target, names }) =>
    [...names].map(([name, own]) => [name, targetForConsumer(target, own).duplicateDetectionMs] as const),
  );
  const [first = null, ...others] = new Set(times.map(([, timeMs]) => timeMs));
  if (others.length === 0) return { ...rest, duplicateDetectionMs: first };
  const known = times.flatMap(([name, timeMs]) => (timeMs === null ? [] : [[name, timeMs] as const]));
  return { ...rest, duplicateDetectionMs: null, ownDuplicateDetectionMs: Object.fromEntries(known) };
}

const optionNames = ["broker", "sku", "strategy", "strategies", "lock", "duplicates", "deadQueue"];

function noSku(sku: string): Diagnostic {
  const nearest = skuNames.toSorted((a, b) => distance(a, sku) - distance(b, sku))[0] ?? "standard";
  return unknownTarget({
    field: "sku",
    noun: "tier of Service Bus",
    given: sku,
    notes: [`the tiers are ${skuNames.join(", ")}`],
    help: `write for example servicebus@${sku === "" ? "standard" : nearest}`,
  });
}

function lockProblem(lock: unknown): Diagnostic[] {
  if (lock === undefined) return [];
  const range = `from ${formatDurationMs(servicebusLimits.leastLockMs)} to ${formatDurationMs(servicebusLimits.lockMs)}`;
  return outOfRange(["lock"], lock, range, servicebusLimits.leastLockMs, servicebusLimits.lockMs);
}

/** Checks the times as a person wrote them: one for all, or one for each of some consumers. */
function duplicatesProblems(sku: Sku, duplicates: unknown): Diagnostic[] {
  const { leastDuplicateDetectionMs: leastMs, duplicateDetectionMs: mostMs } = servicebusLimits;
  const range = `from ${formatDurationMs(leastMs)} to ${formatDurationMs(mostMs)}`;
  if (duplicates === undefined) return [];
  const isMapping = typeof duplicates === "object" && duplicates !== null && !Array.isArray(duplicates);
  const times = isMapping ? Object.entries(duplicates) : [[null, duplicates] as const];
  return [
    ...times.flatMap(([consumer, time]) =>
      outOfRange(consumer === null ? ["duplicates"] : ["duplicates", consumer], time, range, leastMs, mostMs),
    ),
    ...(skus[sku].duplicateDetection ? [] : [absent(sku, "duplicates", "duplicate detection", wordOf(duplicates))]),
  ];
}

/** Refuses a duration of ISO 8601 like any other text, because P5M is five months there, and PT5M five minutes. */
function outOfRange(
  place: readonly string[],
  value: unknown,
  range: string,
  leastMs: number,
  mostMs: number,
): Diagnostic[] {
  const text = wordOf(value);
  const durationMs = durationPattern.test(text) ? parseDurationMs(text) : null;
  if (durationMs !== null && durationMs >= leastMs && durationMs <= mostMs) return [];
  const message =
    durationMs === null
      ? `${JSON.stringify(value)} is no duration`
      : `${formatDurationMs(durationMs)} is out of range: ${range}`;
  const notes = text.startsWith("P")
    ? ["Redeliver writes the durations of ISO 8601 itself; P5M is five months there, and PT5M five minutes"]
    : [];
  return [misfit(["target", ...place], value, message, `write a duration ${range}, such as 1m`, notes)];
}

/** Finds settings that the tier does not have. */
function tierProblems(sku: Sku, { duplicates, deadQueue }: ServicebusTargetInput): Diagnostic[] {
  return [
    ...duplicatesProblems(sku, duplicates),
    ...(deadQueue !== "shared" || skus[sku].forwarding ? [] : [absent(sku, "deadQueue", "forwarding", deadQueue)]),
  ];
}

function absent(sku: Sku, field: string, what: string, value: string): Diagnostic {
  return diagnostic("RD704", {
    path: `target.${field}`,
    message: `the ${sku} tier has no ${what}`,
    value,
    help: "use the standard tier, or leave it out",
  });
}
