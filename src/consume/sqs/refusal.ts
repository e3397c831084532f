import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Place } from "./client.ts";
import { errorName, isOfKey } from "./client.ts";
import type { Contract } from "./contract.ts";
import type { MissingRight } from "./missing-rights.ts";
import { neededActions } from "./needed-actions.ts";

/** What SQS said, by name and in its own words. */
export function saidBy(error: unknown): string {
  return `${errorName(error)}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Keys that are none, or none any more. */
export function notKnown(error: unknown, { where }: Place): Diagnostic {
  return diagnostic("RD807", {
    path: "options.connection",
    message: `SQS at ${where} does not know these credentials`,
    notes: [saidBy(error)],
    help: "correct them, or see why new ones are not fetched: connection.credentials, or where none are given the environment (AWS_ACCESS_KEY_ID), the profile or the role",
  });
}

/** Everything at once that the credentials lack, and what to write into their policy. */
export function notAllowed(missing: readonly MissingRight[], place: Place, contract: Contract): Diagnostic {
  const { workQueue, deadQueue } = contract;
  const lacks = byQueue(missing).map(([queue, rights]) => `${actionsOf(rights).join(", ")} on ${queue}`);
  const needs = [workQueue, deadQueue].map((queue) => `${neededActions(contract, queue).join(", ")} on ${queue}`);
  const key = missing.find(({ error }) => isOfKey(error));
  return diagnostic("RD807", {
    path: "options.connection",
    message: `SQS at ${place.where} does not let this consumer do ${lacks.join(", nor ")}`,
    notes: [...new Set(missing.map(({ error }) => saidBy(error))), `by its contract it needs ${needs.join("; ")}`],
    help:
      key === undefined
        ? `add to the policy of the role that the consumer runs as: ${statements(missing, place)}`
        : `allow the role that the consumer runs as to use the key that encrypts ${key.queue}, in its own policy and in that of the key: ${keyStatement(key)}`,
  });
}

function byQueue(missing: readonly MissingRight[]): readonly (readonly [string, readonly MissingRight[]])[] {
  const queues = [...new Set(missing.map(({ queue }) => queue))];
  return queues.map((queue) => [queue, missing.filter((each) => each.queue === queue)]);
}

function actionsOf(rights: readonly MissingRight[]): readonly string[] {
  return rights.map(({ action }) => action);
}

function statements(missing: readonly MissingRight[], { region }: Place): string {
  return byQueue(missing)
    .map(([queue, rights]) => {
      const account = rights.map(({ url }) => accountIn(url)).find((each) => each !== null) ?? "*";
      const Resource = `arn:${partitionOf(region)}:sqs:${region}:${account}:${queue}`;
      return JSON.stringify({ Effect: "Allow", Action: actionsOf(rights), Resource });
    })
    .join(", ");
}

/** To receive takes the one, to send both. Source: SQS Developer Guide, "Configuring KMS permissions for Amazon SQS". */
function keyStatement({ error }: MissingRight): string {
  const Resource = /arn:[\w-]+:kms:[\w-]*:\d*:key\/[\w-]+/.exec(saidBy(error))?.[0] ?? "*";
  return JSON.stringify({ Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey"], Resource });
}

/** Source: SQS Developer Guide, "Amazon SQS queue and message identifiers": `https://sqs.<region>.amazonaws.com/<account>/<queue>`. */
function accountIn(url: string | null): string | null {
  return /\/(\d{12})\/[^/]+$/.exec(url ?? "")?.[1] ?? null;
}

/** Source: IAM User Guide, "Amazon Resource Names", partitions. */
function partitionOf(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
