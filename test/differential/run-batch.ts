import fc from "fast-check";

import { type RabbitmqVersion, versions } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { type SemanticsVersion, semanticsVersionOf, versionRules } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { Broker } from "../support/live.ts";
import type { CaseResult, Runner } from "./live-runner.ts";
import { type DifferentialCase, differentialCases } from "./topologies.ts";

/** The result of a number of cases. */
export interface BatchReport {
  readonly cases: number;
  readonly steps: number;
  readonly incomparable: number;
  /** The cases in which the broker and the semantics differ. Each holds all data for another run. */
  readonly different: readonly Difference[];
  /** Cases that differed once among many others, and not in two runs alone: a busy machine was late. */
  readonly unrepeated: readonly Difference[];
}

export interface Difference {
  readonly result: CaseResult;
  readonly differentialCase: DifferentialCase;
}

/** The class of versions that a running broker belongs to. */
export function semanticsVersionOfBroker(broker: Broker): SemanticsVersion {
  const [major, minor, patch] = broker.fullVersion.split(".");
  const version = versions.find((each) => each === `${major}.${minor}`);
  if (version === undefined) throw new Error(`RabbitMQ ${broker.fullVersion} is not a version that Redeliver knows`);
  return semanticsVersionOf({ version: version satisfies RabbitmqVersion, patch: Number.parseInt(patch ?? "0", 10) });
}

/** The cases of a seed are the same every time. A longer run begins with the cases of a shorter one. */
export function casesOf(seed: number, count: number, version: SemanticsVersion): readonly DifferentialCase[] {
  const { delayedRetry, negativeDeliveryLimit } = versionRules[version];
  return fc.sample(differentialCases({ delayedRetry, negativeLimitByPolicy: negativeDeliveryLimit === "unlimited" }), {
    seed,
    numRuns: count,
  });
}

export async function runBatch(
  runner: Runner,
  cases: readonly DifferentialCase[],
  firstIndex = 0,
): Promise<BatchReport> {
  const named = cases.map((differentialCase, index) => ({ name: `case ${firstIndex + index}`, differentialCase }));
  const results = await runner.run(named);
  const byName = new Map(named.map(({ name, differentialCase }) => [name, differentialCase]));
  const different: Difference[] = [];
  const unrepeated: Difference[] = [];
  for (const result of results) {
    if (result.differences.length === 0) continue;
    const differentialCase = byName.get(result.name) as DifferentialCase;
    const alone = [{ name: result.name, differentialCase }];
    const again = [...(await runner.run(alone)), ...(await runner.run(alone))];
    const isRepeated = again.some(({ differences }) => differences.length > 0);
    (isRepeated ? different : unrepeated).push({ result, differentialCase });
  }
  return {
    cases: results.length,
    steps: results.reduce((sum, { steps }) => sum + steps, 0),
    incomparable: results.filter(({ isIncomparable }) => isIncomparable).length,
    different,
    unrepeated,
  };
}

/** A readable report of the differences. */
export function describeDifferences(different: readonly Difference[], seed: number): string {
  return different
    .map(
      ({ result, differentialCase }) =>
        `seed ${seed}, ${result.name}, after ${result.steps} actions:\n${result.differences.join("\n")}\n${JSON.stringify(differentialCase)}`,
    )
    .join("\n\n");
}
