import { durationPattern, formatDurationMs, parseDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, type PathSegment, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, RetryPlan } from "../../../plan/plan.ts";
import { misfit, unknownOptions } from "../../../contract/shared-problems.ts";
import { parseArn } from "./arn.ts";
import { lambdaLimits } from "./capabilities.ts";
import type { LambdaConsumer } from "./lambda.ts";
import { type Raw, diagnosePlaceOf } from "./option-problems.ts";
import { isEntry } from "../../../foreign/entries.ts";

type Path = readonly PathSegment[];

const keys = ["function", "timeout", "batchSize", "batchWindow", "maximumConcurrency"];

/** Finds problems with the functions that a target names, without looking at the declaration. */
export function diagnoseLambda(lambda: unknown, target: Raw): Diagnostic[] {
  const path = ["target", "lambda"];
  if (lambda === undefined) return [];
  const help = "write for example lambda: { billing: { function: billing, timeout: 30s } }";
  if (!isEntry(lambda)) return [misfit(path, lambda, "this is not a mapping of consumers to functions", help)];
  return Object.entries(lambda).flatMap(([consumer, each]) =>
    isEntry(each)
      ? diagnoseFunction([...path, consumer], each, target)
      : [misfit([...path, consumer], each, "this names no function", help)],
  );
}

function diagnoseFunction(path: Path, options: Raw, target: Raw): Diagnostic[] {
  const { timeoutSeconds, batchSize, batchWindowSeconds, leastConcurrency, mostConcurrency } = lambdaLimits;
  return [
    ...unknownOptions(path, "option of a function", options, keys),
    ...functionProblem([...path, "function"], options["function"], target),
    ...secondsProblem([...path, "timeout"], options["timeout"] ?? null, 1, timeoutSeconds),
    ...numberProblem([...path, "batchSize"], options["batchSize"], 1, batchSize),
    ...secondsProblem([...path, "batchWindow"], options["batchWindow"], 0, batchWindowSeconds),
    ...numberProblem([...path, "maximumConcurrency"], options["maximumConcurrency"], leastConcurrency, mostConcurrency),
  ];
}

const functionName = /^[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9_$-]{1,128})?$/;

function functionProblem(path: Path, value: unknown, target: Raw): Diagnostic[] {
  const arn = typeof value === "string" ? parseArn(value) : null;
  const name = arn?.service === "lambda" ? arn.resource.replace(/^function:/, "") : value;
  if (typeof name !== "string" || !functionName.test(name)) {
    return [misfit(path, value, "this is not the name or the ARN of a Lambda function", "write its name or its ARN")];
  }
  return arn === null ? [] : diagnosePlaceOf(path, arn, target);
}

/** @param value undefined if it may be left out, null if it may not */
function secondsProblem(path: Path, value: unknown, least: number, most: number): Diagnostic[] {
  if (value === undefined) return [];
  const name = String(path.at(-1));
  const range = `${least}s to ${most}s`;
  if (typeof value !== "string" || !durationPattern.test(value)) {
    const message = value === null ? `${name} is missing` : `${name} is no duration`;
    return [misfit(path, value ?? undefined, message, `write a number and a unit, from ${range}, such as 30s`)];
  }
  const durationMs = parseDurationMs(value);
  if (durationMs % 1_000 === 0 && durationMs >= least * 1_000 && durationMs <= most * 1_000) return [];
  const message = `${name} is ${formatDurationMs(durationMs)}; Lambda takes whole seconds from ${range}`;
  return [misfit(path, value, message, `choose whole seconds from ${range}`)];
}

function numberProblem(path: Path, value: unknown, least: number, most: number): Diagnostic[] {
  if (value === undefined) return [];
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return [];
  const message = `${String(path.at(-1))} is ${JSON.stringify(value)}; Lambda takes whole numbers from ${least} to ${most}`;
  return [misfit(path, value, message, `choose one from ${least} to ${most}`)];
}

/** Finds conflicts between a function and the declaration of its consumer. */
export function diagnoseLambdaConsumer(plan: ConsumerPlan, retry: RetryPlan, lambda: LambdaConsumer): Diagnostic[] {
  const path = ["target", "lambda", plan.consumer];
  return [
    ...timeoutProblem(path, plan, lambda),
    ...batchProblems(path, plan.order === "per-key", lambda),
    ...receivesProblem(plan, retry),
  ];
}

function timeoutProblem(
  path: Path,
  { consumer, handlerTimeoutMs }: ConsumerPlan,
  lambda: LambdaConsumer,
): Diagnostic[] {
  const timeoutMs = lambda.timeoutSeconds * 1_000;
  if (handlerTimeoutMs === null || handlerTimeoutMs <= timeoutMs) return [];
  const [declared, own] = [formatDurationMs(handlerTimeoutMs), formatDurationMs(timeoutMs)];
  return diagnosed("RD619", {
    path: [...path, "timeout"],
    message: `a handler may run for ${declared}, and the function ends after ${own}`,
    notes: ["a function that Lambda ends has failed with every message of its batch, also the finished ones"],
    help: `give the function ${declared} at least, or shorten consumers.${consumer}.handlerTimeout`,
  });
}

/** Source: Lambda Developer Guide, "Creating and configuring an Amazon SQS event source mapping", BatchSize. */
function batchProblems(path: Path, fifo: boolean, { batchSize, batchWindowSeconds }: LambdaConsumer): Diagnostic[] {
  const report = (key: string, value: unknown, message: string, note: string, help: string): Diagnostic[] =>
    diagnosed("RD620", { path: [...path, key], message, value, notes: [note], help });
  if (fifo && batchWindowSeconds > 0) {
    const message = `a FIFO queue has no batch window; declared is ${batchWindowSeconds}s`;
    return report("batchWindow", `${batchWindowSeconds}s`, message, "Lambda refuses it", "leave it out");
  }
  if (fifo && batchSize > 1) {
    const message = `a batch of ${batchSize} would spend attempts of untried messages`;
    const note =
      "to keep the order a function stops at the first failure and returns all messages after it, and each has spent a receive";
    return report("batchSize", batchSize, message, note, "leave it out: in order it is 1");
  }
  if (batchSize > lambdaLimits.batchSizeWithoutWindow && batchWindowSeconds < 1) {
    const message = `a batch of ${batchSize} needs a window of 1s at least; there is none`;
    const note = `Lambda takes more than ${lambdaLimits.batchSizeWithoutWindow} only with a window`;
    return report("batchSize", batchSize, message, note, "add batchWindow: 1s");
  }
  return [];
}

/** Source: Lambda Developer Guide, "Configuring a queue to use with Lambda": maxReceiveCount of 5 at least. */
function receivesProblem({ consumer }: ConsumerPlan, { attempts, giveUpAfter }: RetryPlan): Diagnostic[] {
  const receives = attempts.length;
  if (receives >= lambdaLimits.advisedReceives) return [];
  return diagnosed(receives === 1 ? "RD621" : "RD622", {
    path: ["consumers", consumer, "retry", "attempts"],
    message:
      receives === 1
        ? "a throttled function would let a message die that it never saw: there is a single receive"
        : `${receives} receives can all be spent by a throttled function; AWS advises ${lambdaLimits.advisedReceives} at least`,
    value: giveUpAfter?.declaredAttempts ?? receives,
    notes: ["Lambda receives a message before it knows whether the function may run"],
    help: `use ${lambdaLimits.advisedReceives} attempts, and set maximumConcurrency rather than the function's reserved concurrency`,
  });
}
