import { lambdaLimits } from "../../compile/capabilities.ts";
import type { SqsFinding } from "./sentences.ts";
import { type AuditedQueue, type LambdaMapping, known } from "../deployment.ts";
import type { Surroundings } from "./surroundings.ts";

/** Finds contradictions between the settings of a queue and of the functions that Lambda calls with its messages. */
export function calledBadly(queue: AuditedQueue, { mappingsOf }: Surroundings): SqsFinding[] {
  return mappingsOf(queue).flatMap((mapping) => [
    ...hiddenTooShort(queue, mapping),
    ...fewReceives(queue, mapping),
    ...wholeBatches(queue, mapping),
    ...filtered(queue, mapping),
  ]);
}

function hiddenTooShort(queue: AuditedQueue, mapping: LambdaMapping): SqsFinding[] {
  const { visibilityTimeoutSeconds: hidden, name } = queue;
  const { timeoutSeconds: timeout, functionName, batchWindowSeconds } = mapping;
  if (hidden === null || timeout === null) return [];
  const wanted = lambdaLimits.visibilityFactor * timeout + (batchWindowSeconds ?? 0);
  if (hidden >= wanted) return [];
  return [
    {
      code: hidden < timeout ? "RD450" : "RD451",
      subject: name,
      facts: { hiddenSeconds: hidden, functionName, timeoutSeconds: timeout },
      evidence: {
        wantedSeconds: wanted,
        batchWindowSeconds: batchWindowSeconds === 0 ? null : batchWindowSeconds,
        isDefault: hidden === 30,
      },
    },
  ];
}

function fewReceives({ name, redrive }: AuditedQueue, { functionName }: LambdaMapping): SqsFinding[] {
  const maxReceiveCount = known(redrive)?.maxReceiveCount ?? null;
  // `configuredBadly` reports a single receive.
  if (maxReceiveCount === null || maxReceiveCount >= lambdaLimits.advisedReceives || maxReceiveCount === 1) return [];
  return [{ code: "RD447", subject: name, facts: { maxReceiveCount, functionName } }];
}

function wholeBatches(
  { name }: AuditedQueue,
  { functionName, batchSize, reportsItemFailures }: LambdaMapping,
): SqsFinding[] {
  if (reportsItemFailures !== false || batchSize === null || batchSize <= 1) return [];
  return [{ code: "RD462", subject: name, facts: { functionName, batchSize } }];
}

function filtered({ name }: AuditedQueue, { functionName, hasFilters }: LambdaMapping): SqsFinding[] {
  return hasFilters === true ? [{ code: "RD463", subject: name, facts: { functionName } }] : [];
}
