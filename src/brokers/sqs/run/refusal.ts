import { partitionOf } from "../compile/regions.ts";
import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Place, errorName, isOfKey } from "./client.ts";
import type { Contract } from "../compile/contract.ts";
import type { MissingRight } from "./missing-rights.ts";
import { neededActions } from "./needed-actions.ts";

/** The answer of SQS, by name and in its own words. */
export function saidBy(error: unknown): string {
  return `${errorName(error)}: ${error instanceof Error ? error.message : String(error)}`;
}

/** The keys are invalid, or no longer valid. */
export function notKnown(error: unknown, { where }: Place): Diagnostic {
  return diagnostic("RD807", {
    path: "options.connection",
    message: `SQS at ${where} does not know these credentials`,
    notes: [saidBy(error)],
    help: "correct them, or see why new ones are not fetched: connection.credentials, or where none are given the environment (AWS_ACCESS_KEY_ID), the profile or the role",
  });
}

/** Everything that the credentials lack, in one diagnostic, with the lines for their policy. */
export function notAllowed(missing: readonly MissingRight[], place: Place, contract: Contract): Diagnostic {
  const { workQueue, deadQueue } = contract;
  const lacks = [...Map.groupBy(missing, ({ queue }) => queue)].map(
    ([queue, rights]) => `${rights.map(({ action }) => action).join(", ")} on ${queue}`,
  );
  const needs = [workQueue, deadQueue].map((queue) => `${neededActions(contract, queue).join(", ")} on ${queue}`);
  const key = missing.find(({ error }) => isOfKey(error));
  return diagnostic("RD807", {
    path: "options.connection",
    message: `SQS at ${place.where} does not let this consumer do ${lacks.join(", nor ")}`,
    notes: [...new Set(missing.map(({ error }) => saidBy(error))), `by its contract it needs ${needs.join("; ")}`],
    help:
      key === undefined
        ? `add to the policy of the role that the consumer runs as: ${statements(missing, place)}`
        : `allow the consumer's role to use the key that encrypts ${key.queue}, in the role's policy and in the key's policy: ${keyStatement(key)}`,
  });
}

function statements(missing: readonly MissingRight[], { region }: Place): string {
  return [...Map.groupBy(missing, ({ queue }) => queue)]
    .map(([queue, rights]) => {
      const account = rights.map(({ url }) => accountIn(url)).find((each) => each !== null) ?? "*";
      const Resource = `arn:${partitionOf(region) ?? "aws"}:sqs:${region}:${account}:${queue}`;
      return JSON.stringify({ Effect: "Allow", Action: rights.map(({ action }) => action), Resource });
    })
    .join(", ");
}

/**
 * A receive needs the first action, and a send needs both. Source: SQS Developer Guide, "Configuring KMS permissions
 * for Amazon SQS".
 */
function keyStatement({ error }: MissingRight): string {
  const Resource = /arn:[\w-]+:kms:[\w-]*:\d*:key\/[\w-]+/.exec(saidBy(error))?.[0] ?? "*";
  return JSON.stringify({ Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey"], Resource });
}

/**
 * Source: SQS Developer Guide, "Amazon SQS queue and message identifiers":
 * `https://sqs.<region>.amazonaws.com/<account>/<queue>`.
 */
function accountIn(url: string | null): string | null {
  return /\/(\d{12})\/[^/]+$/.exec(url ?? "")?.[1] ?? null;
}
