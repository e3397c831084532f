import { describe, test } from "vitest";

import { claims } from "../../src/brokers/servicebus/semantics.ts";
import { deliveryExperiments } from "../support/servicebus/delivery-experiments.ts";
import type { Experiment } from "../support/servicebus/experiment.ts";
import { gapExperiments } from "../support/servicebus/gap-experiments.ts";
import { type GapName, gaps, proofOf, type ShownClaim } from "../support/servicebus/known-gaps.ts";
import { startLab } from "../support/servicebus/lab.ts";
import { routingExperiments } from "../support/servicebus/routing-experiments.ts";

// Every claim that is not static only has its experiment, and every experiment its claim: the compiler sees to both.
const experiments: Readonly<Record<ShownClaim, Experiment>> = {
  ...deliveryExperiments,
  ...routingExperiments,
} satisfies Record<ShownClaim, Experiment>;

describe.concurrent("what the semantics relies on, proved on the emulator in the tests' process", () => {
  for (const [name, { run, shows }] of Object.entries(experiments)) {
    test(`${name}: ${claims[name as ShownClaim].says}`, async ({ expect, onTestFinished }) => {
      expect(proofOf(name as ShownClaim)).toBe("proved on the emulator in the tests' process");
      expect(await run(await startLab(onTestFinished))).toEqual(shows);
    });
  }
});

describe.concurrent("where the emulator is not like Service Bus", () => {
  for (const [name, { run, shows }] of Object.entries(gapExperiments)) {
    test(`${name}: it ${gaps[name as GapName].emulator}`, async ({ expect, onTestFinished }) => {
      expect(await run(await startLab(onTestFinished))).toEqual(shows);
    });
  }
});
