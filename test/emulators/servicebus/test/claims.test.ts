import { describe, expect } from "vitest";

import { type GapName, gaps, proofOf, type ShownClaim } from "../src/known-gaps.ts";
import { claims } from "../src/redeliver.ts";
import { deliveryExperiments } from "./delivery-experiments.ts";
import type { Experiment } from "./experiment.ts";
import { gapExperiments } from "./gap-experiments.ts";
import { routingExperiments } from "./routing-experiments.ts";
import { test } from "./lab-test.ts";

// Every claim that is not static only has an experiment, and every experiment has a claim. The compiler checks both.
const experiments: Readonly<Record<ShownClaim, Experiment>> = {
  ...deliveryExperiments,
  ...routingExperiments,
} satisfies Record<ShownClaim, Experiment>;

describe.concurrent("a claim of the semantics, proved on the emulator in the tests' process", () => {
  for (const [name, { run, shows }] of Object.entries(experiments)) {
    test(`${name}: ${claims[name as ShownClaim].says}`, async ({ lab }) => {
      expect(proofOf(name as ShownClaim)).toBe("proved on the emulator in the tests' process");
      expect(await run(lab)).toEqual(shows);
    });
  }
});

describe.concurrent("a difference between the emulator and Service Bus", () => {
  for (const [name, { run, shows }] of Object.entries(gapExperiments)) {
    test(`${name}: it ${gaps[name as GapName].emulator}`, async ({ lab }) => {
      expect(await run(lab)).toEqual(shows);
    });
  }
});
