import type { Outcome } from "../brokers/contract.ts";
import type { CompiledSystem } from "../brokers/index.ts";
import { formatDurationMs } from "../declare/duration.ts";

export type Contract = CompiledSystem["contracts"][number];
/** What is common to the operations of every broker. */
interface NamedOperation {
  readonly operation: string;
}

/** What a consumer does for one outcome, as a report shows it. */
export interface OutcomeRow {
  readonly outcome: string;
  /** `≤ 5m` where it is about a delay that a handler asks for; null elsewhere. */
  readonly asked: string | null;
  readonly cases: readonly OutcomeCase[];
  /** Null where the contract gives no reason of its own. */
  readonly why: string | null;
}

export interface OutcomeCase {
  /** `attempts 1–4`; null where the operations are the same for every attempt. */
  readonly attempts: string | null;
  /** In order: the next one only when the one before has succeeded. */
  readonly operations: readonly OperationLine[];
}

export interface OperationLine {
  readonly name: string;
  /** `requeue: false`, `exchange: shop.dead`, `confirm`. */
  readonly flags: readonly string[];
}

/** What a contract demands, outcome by outcome. */
export function outcomeRows(contract: Contract): readonly OutcomeRow[] {
  const outcomes = Object.keys(contract.outcomes) as (keyof Contract["outcomes"])[];
  const asked = (contract.retryAfter ?? []).map((step) => ({
    outcome: "retry after",
    asked: `≤ ${formatDurationMs(step.upToMs)}`,
    cases: casesOf(step),
    why: null,
  }));
  return outcomes.flatMap((outcome) => [
    {
      outcome,
      asked: null,
      cases: casesOf(contract.outcomes[outcome]),
      why: contract.why[outcome],
    },
    ...(outcome === "transient" ? asked : []),
  ]);
}

/** Attempts in a row that demand the same are one case. */
function casesOf(outcome: Outcome<NamedOperation>): readonly OutcomeCase[] {
  if (!("byAttempt" in outcome)) return [{ attempts: null, operations: linesOf(outcome) }];
  const runs: {
    first: number;
    last: number;
    text: string;
    operations: readonly OperationLine[];
  }[] = [];
  outcome.byAttempt.forEach((each, index) => {
    const text = JSON.stringify(each);
    const run = runs.at(-1);
    if (run?.text === text) run.last = index + 1;
    else runs.push({ first: index + 1, last: index + 1, text, operations: linesOf(each) });
  });
  return runs.map(({ first, last, operations }, index) => ({
    attempts: `${first === last ? `attempt ${first}` : `attempts ${first}–${last}`}${index === runs.length - 1 ? " and beyond" : ""}`,
    operations,
  }));
}

/** Where nothing is to be done, that is said. */
function linesOf(operations: readonly NamedOperation[]): readonly OperationLine[] {
  return operations.length === 0 ? [{ name: "nothing", flags: [] }] : operations.map(operationLine);
}

/** Shows every field there is, so that an operation of another broker is shown without being known here. */
function operationLine({ operation, ...fields }: NamedOperation): OperationLine {
  return {
    name: operation,
    flags: Object.entries(fields).map(([name, value]) => formatFlag(name, value)),
  };
}

function formatFlag(name: string, value: unknown): string {
  return value === true ? name : formatField(name, value, ": ");
}

function formatField(name: string, value: unknown, separator: string): string {
  const isDuration = name.endsWith("Ms");
  return `${isDuration ? name.slice(0, -2) : name}${separator}${formatValue(value, isDuration)}`;
}

function formatValue(value: unknown, isDuration: boolean): string {
  if (typeof value === "number") return isDuration ? formatDurationMs(value) : String(value);
  if (Array.isArray(value)) {
    const items = value.map((each: unknown) => ({ each, text: formatValue(each, isDuration) }));
    return items.map(({ each, text }) => (typeof each === "object" ? `(${text})` : text)).join(", ");
  }
  if (typeof value !== "object" || value === null) return String(value);
  if ("from" in value && "to" in value) {
    const [from, to] = [formatValue(value.from, isDuration), formatValue(value.to, isDuration)];
    return from === to ? from : `${from} … ${to}`;
  }
  return Object.entries(value)
    .map(([key, each]) => formatField(key, each, " = "))
    .join(", ");
}
