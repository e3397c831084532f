import { distance } from "fastest-levenshtein";

import type { Duration } from "../../declare/duration.ts";
import { durationPattern, formatDurationMs, parseDurationMs } from "../../declare/duration.ts";
import type { Checked, Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ServicebusTarget, Sku, StrategyName } from "./capabilities.ts";
import { deadQueueKinds, servicebusDefaults, servicebusLimits, skuNames, skus, strategyNames } from "./capabilities.ts";

/** A target as a person writes it: in code, or in the configuration of a stack. */
export interface ServicebusTargetInput {
  readonly broker: "servicebus";
  /** The tier: `"basic"`, `"standard"` or `"premium"`. */
  readonly sku: string;
  readonly strategy?: "auto" | StrategyName | undefined;
  /** How long a delivery is its receiver's alone if nobody renews it, and so how long a crash is waited for; 1m unless said otherwise. */
  readonly lock?: Duration | undefined;
  /** Duplicate detection of the work queues: how long they remember the ids of messages. Left out, there is none. */
  readonly duplicates?: Duration | undefined;
  /** `shared`: all dead letters are forwarded to one queue of the system. */
  readonly deadQueue?: ServicebusTarget["deadQueue"] | undefined;
}

/** Reads the name of a tier, and of a strategy. */
export function parseServicebusTarget(sku: string, strategy?: string): Checked<ServicebusTarget> {
  return checkServicebusTarget({ broker: "servicebus", sku, strategy: strategy as StrategyName | undefined });
}

/** Checks a target that was written as data; one that was checked before comes back as it is. */
export function checkServicebusTarget(input: ServicebusTargetInput | ServicebusTarget): Checked<ServicebusTarget> {
  if ("lockMs" in input) return { ok: true, warnings: [], value: input };
  const sku = skuNames.find((each) => each === input.sku);
  const { strategy = "auto", deadQueue = "own" } = input;
  const diagnostics = [
    ...unknownOptions(input),
    // Types say that there is a tier; what was read from a file may have none.
    ...(sku === undefined ? [noSku(String(input.sku ?? ""))] : []),
    ...unknownWord("strategy", strategy, ["auto", ...strategyNames]),
    ...unknownWord("deadQueue", deadQueue, deadQueueKinds),
    ...lockProblem(input.lock),
    ...(sku === undefined ? [] : tierProblems(sku, input)),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return {
    ok: true,
    warnings: [],
    value: Object.freeze({
      broker: "servicebus",
      sku: sku as Sku,
      strategy,
      lockMs: input.lock === undefined ? servicebusDefaults.lockMs : parseDurationMs(input.lock),
      duplicateDetectionMs: input.duplicates === undefined ? null : parseDurationMs(input.duplicates),
      deadQueue,
    }),
  };
}

const optionNames = ["broker", "sku", "strategy", "lock", "duplicates", "deadQueue"];

function unknownOptions(input: ServicebusTargetInput): Diagnostic[] {
  return Object.keys(input)
    .filter((name) => !optionNames.includes(name))
    .map((name) =>
      diagnostic("RD701", {
        path: ["target", name],
        message: `a target on Service Bus has no ${name}`,
        notes: [`the keys there are ${optionNames.join(", ")}`],
        help: "correct the key, or remove it",
      }),
    );
}

function noSku(sku: string): Diagnostic {
  const nearest = skuNames.toSorted((a, b) => distance(a, sku) - distance(b, sku))[0] ?? "standard";
  return diagnostic("RD701", {
    path: "target.sku",
    message: sku === "" ? "the target names no tier" : `${JSON.stringify(sku)} is no tier of Service Bus`,
    value: sku,
    notes: [`the tiers are ${skuNames.join(", ")}`],
    help: `write for example servicebus@${sku === "" ? "standard" : nearest}`,
  });
}

function unknownWord(field: string, word: unknown, known: readonly unknown[]): Diagnostic[] {
  if (known.includes(word)) return [];
  return [
    diagnostic("RD701", {
      path: `target.${field}`,
      message: `Service Bus has no ${field} named ${JSON.stringify(word)}`,
      value: word,
      help: `write one of ${known.join(", ")}`,
    }),
  ];
}

function lockProblem(lock: unknown): Diagnostic[] {
  if (lock === undefined) return [];
  const range = `from ${formatDurationMs(servicebusLimits.leastLockMs)} to ${formatDurationMs(servicebusLimits.lockMs)}`;
  return outOfRange("RD702", "lock", lock, range, servicebusLimits.leastLockMs, servicebusLimits.lockMs);
}

/** A duration of ISO 8601 is refused like any other text: P5M is five months there, and PT5M five minutes. */
function outOfRange(
  code: "RD702" | "RD703",
  field: string,
  value: unknown,
  range: string,
  leastMs: number,
  mostMs: number,
): Diagnostic[] {
  const text = String(value);
  const durationMs = durationPattern.test(text) ? parseDurationMs(text) : null;
  if (durationMs !== null && durationMs >= leastMs && durationMs <= mostMs) return [];
  return [
    diagnostic(code, {
      path: `target.${field}`,
      message:
        durationMs === null
          ? `${JSON.stringify(value)} is no duration`
          : `${formatDurationMs(durationMs)} is out of range: ${range}`,
      value,
      notes: text.startsWith("P")
        ? ["Redeliver writes the durations of ISO 8601 itself; P5M is five months there, and PT5M five minutes"]
        : [],
      help: `write a duration ${range}, such as 1m`,
    }),
  ];
}

/** What a tier does not have. */
function tierProblems(sku: Sku, { duplicates, deadQueue }: ServicebusTargetInput): Diagnostic[] {
  const { leastDuplicateDetectionMs: leastMs, duplicateDetectionMs: mostMs } = servicebusLimits;
  const range = `from ${formatDurationMs(leastMs)} to ${formatDurationMs(mostMs)}`;
  const absent = (field: string, what: string, value: string): Diagnostic =>
    diagnostic("RD704", {
      path: `target.${field}`,
      message: `the ${sku} tier has no ${what}`,
      value,
      help: "use the standard tier, or leave it out",
    });
  return [
    ...(duplicates === undefined ? [] : outOfRange("RD703", "duplicates", duplicates, range, leastMs, mostMs)),
    ...(duplicates === undefined || skus[sku].duplicateDetection
      ? []
      : [absent("duplicates", "duplicate detection", duplicates)]),
    ...(deadQueue !== "shared" || skus[sku].forwarding ? [] : [absent("deadQueue", "forwarding", deadQueue)]),
  ];
}
