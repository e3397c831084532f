import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { brokers } from "../support/live.ts";
import { createRunner, type Runner } from "./live-runner.ts";
import { regressions } from "./regressions.ts";
import { casesOf, describeDifferences, runBatch, semanticsVersionOfBroker } from "./run-batch.ts";

/** Enough to meet most rules, in about a minute on two processors. */
const caseCount = 200;

/** Another run draws other cases. `REDELIVER_SEED` draws the same ones again. */
const seed =
  process.env["REDELIVER_SEED"] === undefined
    ? Math.floor(Math.random() * 2 ** 31)
    : Number(process.env["REDELIVER_SEED"]);

describe.each(brokers())("RabbitMQ $fullVersion", (broker) => {
  const version = semanticsVersionOfBroker(broker);
  let runner: Runner;

  beforeAll(async () => {
    runner = await createRunner(broker, version);
  });

  afterAll(async () => {
    await runner.dispose();
  });

  test(`acts as the semantics says in ${caseCount} random topologies (REDELIVER_SEED=${seed})`, async () => {
    const report = await runBatch(runner, casesOf(seed, caseCount, version));
    if (report.unrepeated.length > 0) console.warn(`not seen again:\n${describeDifferences(report.unrepeated, seed)}`);
    expect(describeDifferences(report.different, seed)).toBe("");
    expect(report.cases).toBe(caseCount);
    expect(report.steps).toBeGreaterThan(caseCount / 2);
  });

  test("acts as the semantics says in every case that once differed", { timeout: 120_000 }, async () => {
    const applicable = regressions.filter(({ needs }) => needs === undefined || needs.includes(version));
    const report = await runBatch(
      runner,
      applicable.map(({ differentialCase }) => differentialCase),
    );
    expect(
      report.different.map(({ result }) => [applicable[Number(result.name.slice(5))]?.name, ...result.differences]),
    ).toEqual([]);
    expect(report.cases).toBe(applicable.length);
  });
});
