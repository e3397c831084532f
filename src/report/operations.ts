import type { AnyContract, AnyOperation, Outcome, OutcomeName } from "../contract/contract.ts";
import { operationsByAttempt } from "../contract/interpret.ts";
import type { CompiledSystem } from "../brokers/index.ts";
import { formatDurationMs } from "../declare/duration.ts";

export type Contract = CompiledSystem["contracts"][number];

/** A consumer's operations for one outcome, as a report shows them. */
export type OutcomeRow = ReturnType<typeof outcomeRows>[number];

export type OutcomeCase = ReturnType<typeof casesOf>[number];

export type OperationLine = ReturnType<typeof operationLine>;

/** A contract's operations, outcome by outcome. */
export function outcomeRows(contract: AnyContract) {
  const outcomes = Object.keys(contract.outcomes) as OutcomeName[];
  const asked = (contract.retryAfter ?? []).map((step) => ({
    outcome: "retry after",
    asked: `≤ ${formatDurationMs(step.upToMs)}`,
    cases: casesOf(step),
    why: null,
  }));
  return outcomes.flatMap((outcome) => [
    {
      outcome,
      /** `≤ 5m` for a delay that a handler asks for. Null otherwise. */
      asked: null,
      cases: casesOf(contract.outcomes[outcome]),
      /** Null if the contract gives no reason. */
      why: contract.why[outcome],
    },
    ...(outcome === "transient" ? asked : []),
  ]);
}

/** Consecutive attempts with the same operations are one case. */
function casesOf(outcome: Outcome<AnyOperation>) {
  if (!("byAttempt" in outcome)) return [{ attempts: null, operations: linesOf(outcome) }];
  const runs: {
    first: number;
    last: number;
    text: string;
    operations: readonly OperationLine[];
  }[] = [];
  operationsByAttempt(outcome).forEach((each, index) => {
    const text = JSON.stringify(each);
    const run = runs.at(-1);
    if (run?.text === text) run.last = index + 1;
    else runs.push({ first: index + 1, last: index + 1, text, operations: linesOf(each) });
  });
  return runs.map(({ first, last, operations }, index) => ({
    /** `attempts 1–4`. Null if the operations are the same for every attempt. */
    attempts: `${first === last ? `attempt ${first}` : `attempts ${first}–${last}`}${index === runs.length - 1 ? " and beyond" : ""}`,
    /** In order. Each begins after the success of the one before. */
    operations,
  }));
}

/** An outcome without operations has a line, too. */
function linesOf(operations: readonly AnyOperation[]): readonly OperationLine[] {
  return operations.length === 0 ? [{ name: "nothing", flags: [] }] : operations.map(operationLine);
}

/** Shows every field, so that this code need not know the operations of any broker. */
function operationLine({ operation, ...fields }: AnyOperation) {
  return {
    name: operation,
    /** `requeue: false`, `exchange: shop.dead`, `confirm`. */
    flags: Object.entries(fields).map(([name, value]) => (value === true ? name : formatField(name, value, ": "))),
  };
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
