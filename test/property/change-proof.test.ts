import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compileAndProve, type System, type SystemInput, type TargetInput } from "../../src/index.ts";
import { type Deployed, deployedOf, readDeployed } from "../../src/migrate/deployed.ts";
import { compareChange } from "../../src/migrate/compare-change.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { proveChange } from "../../src/migrate/prove-change.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { anyDeployment, edited, editNames } from "../support/change/deployments.ts";
import type { Deployment } from "../support/change/registered.ts";
import { forAll } from "../support/for-all.ts";

// A change that is not refused loses no message that waits, wherever it waits: the proof finds no problem then.

function deployed(declaration: System | SystemInput, target: TargetInput): Deployed | null {
  const system = checkSystem(declaration as SystemInput);
  const proved = system.ok ? compileAndProve(system.value, target) : null;
  return system.ok && proved?.ok === true ? deployedOf({ ...proved.value, system: system.value }) : null;
}

/** On SQS a redrive by the queue alone needs to know how long a handler takes. */
function withTimeouts({ system }: Deployment): SystemInput {
  const { consumers } = system as SystemInput;
  const timed = Object.entries(consumers).map(([name, own]) => [name, { ...own, handlerTimeout: "10s" }]);
  return { ...(system as SystemInput), consumers: Object.fromEntries(timed) as SystemInput["consumers"] };
}

/** A consumer that names its dead queue does not share one. Its name decides, so that it stays the same. */
function withSomeOwn(system: SystemInput): SystemInput {
  const named = Object.entries(system.consumers).map(([name, own]) => [
    name,
    own.retry === undefined || name.charCodeAt(0) % 2 === 0
      ? own
      : { ...own, deadLetter: { ...own.deadLetter, queue: `letters-of-${name}` } },
  ]);
  return { ...system, consumers: Object.fromEntries(named) as SystemInput["consumers"] };
}

const sides: Readonly<Record<string, (deployment: Deployment) => Deployed | null>> = {
  rabbitmq: ({ system, version, strategy }) =>
    deployed(system, { broker: "rabbitmq", version, strategy } as TargetInput),
  "rabbitmq, shared dead queue": ({ system, version, strategy }) =>
    deployed(withSomeOwn(system as SystemInput), {
      broker: "rabbitmq",
      version,
      strategy,
      deadQueue: "shared",
    } as TargetInput),
  sqs: (each) => deployed(withTimeouts(each), { broker: "sqs", region: "eu-west-1" }),
  "sqs, shared dead queue": (each) =>
    deployed(withSomeOwn(withTimeouts(each)), { broker: "sqs", region: "eu-west-1", deadQueue: "shared" }),
  servicebus: (each) => deployed(withTimeouts(each), { broker: "servicebus", sku: "standard" }),
  "servicebus, ttl-tier": (each) =>
    deployed(withTimeouts(each), { broker: "servicebus", sku: "standard", strategy: "ttl-tier" }),
};

/**
 * The promises that some change weakens for messages that wait. SQS times a message by the settings at its receive. On
 * Service Bus two contracts that count differently may work side by side.
 */
const mayWeaken: Readonly<Record<string, readonly string[]>> = {
  rabbitmq: [],
  "rabbitmq, shared dead queue": [],
  sqs: ["timing"],
  "sqs, shared dead queue": ["timing"],
  servicebus: ["attempts", "timing"],
  "servicebus, ttl-tier": [],
};

test.each(Object.keys(sides))("%s: no message that waits is lost by a change", { timeout: 600_000 }, (name) => {
  const sideOf = sides[name] as (typeof sides)[string];
  let proved = 0;
  const weakened = new Set<string>();
  forAll(
    name.endsWith("ttl-tier") ? 400 : name.endsWith("shared dead queue") ? 300 : 150,
    [anyDeployment, anyDeployment, fc.constantFrom(...editNames)],
    (last, other, edit) => {
      const next = edited(last, edit, other);
      const [before, after] = [sideOf(last), next === null ? null : sideOf(next)];
      if (before === null || after === null) return;
      if (refuseChange(before, after).length > 0) return;
      const { verdicts, problems } = proveChange(before, after);
      expect(problems).toEqual([]);
      proved += verdicts.length;
      for (const { property } of verdicts.flatMap((verdict) => verdict.weaker)) weakened.add(property);
    },
  );
  expect(proved).toBeGreaterThan(50);
  // Few of the drawn changes weaken a promise, and in some runs none does.
  expect([...weakened].filter((property) => mayWeaken[name]?.includes(property) !== true)).toEqual([]);
});

// A change that no single deployment makes goes in steps that can be deployed, or not at all.
test.each(Object.keys(sides))(
  "%s: the steps of a migration are changes that deployments make",
  { timeout: 600_000 },
  (name) => {
    const sideOf = sides[name] as (typeof sides)[string];
    const ends = { steps: 0, gone: 0, none: 0 };
    forAll(300, [anyDeployment, anyDeployment, fc.constantFrom(...editNames)], (last, other, edit) => {
      const next = edited(last, edit, other);
      const [before, after] = [sideOf(last), next === null ? null : sideOf(next)];
      if (before === null || after === null) return;
      const isRefused = refuseChange(before, after).length > 0;
      const planned = planMigration(before, after.system, after.target);
      if (!planned.ok) {
        expect(planned.diagnostics.map(({ code }) => code)).toContain("RD306");
        ends.none += 1;
        return;
      }
      const { avoided, gone, drained, steps } = planned.value;
      const [beside] = steps;
      if (!isRefused && steps.length === 1) return;
      ends.steps += 1;
      // Nothing else forbids to leave out the step of a consumer that goes, or of a promise that has to be kept.
      expect(isRefused || gone.length + avoided.length > 0).toBe(true);
      if (avoided.length > 0) expect(steps.flatMap(({ warnings }) => warnings)).toEqual([]);
      for (const { consumer, queue } of gone) {
        expect(beside?.system.consumers[consumer]).toMatchObject({ from: undefined });
        expect(drained).toContain(queue);
        ends.gone += 1;
      }
      let from = before;
      for (const { system, target } of steps) {
        // The declaration goes through a file.
        const to = readDeployed(JSON.parse(JSON.stringify(system)) as SystemInput, target);
        if (to === null) throw new Error("a step does not compile");
        const compared = compareChange({ inputs: { declaration: from.system, target: from.target }, outputs: {} }, to);
        expect(compared?.problems).toEqual([]);
        from = to;
      }
      for (const { queue, newQueue } of planned.value.moved) expect(newQueue).not.toBe(queue);
      expect(Object.keys(from.system.consumers)).toEqual(Object.keys(after.system.consumers));
    });
    expect(ends.steps).toBeGreaterThan(0);
    expect(ends.gone).toBeGreaterThan(0);
  },
);
